#include "brain/economy/budget_definition.h"

#include "brain/economy/budget_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::vector<std::string> kGroups = {"shop", "web"};
const Price kPrice = {0, {Coins(1), Coins(1)}};

std::vector<BudgetEntry> Changes(const BudgetDefinition& def, const BudgetAccounts& accounts,
                                 int64_t now_s = kNovember + 500) {
  const auto changes = ChangesTo(def, kPrice, accounts, now_s);
  EXPECT_TRUE(changes.ok()) << changes.status();
  return changes.value_or(std::vector<BudgetEntry>());
}

TEST(BudgetCheck, NamesWhatIsWrong) {
  EXPECT_THAT(CheckBudgets(TwoBusinesses(), kGroups), IsEmpty());
  BudgetDefinition def = TwoBusinesses();
  def.groups[0].funding[0].second = Shares({{"retail", 7000}, {"media", 2000}});
  EXPECT_THAT(CheckBudgets(def, kGroups),
              ElementsAre("group shop: the shares add up to 90 %: expected 100 %"));
  def.groups[0].funding[0].second = Shares({{"retail", 7000}, {"nobody", 3000}});
  EXPECT_THAT(CheckBudgets(def, kGroups), ElementsAre("group shop: no business \"nobody\""));
  def = TwoBusinesses();
  def.units.clear();
  EXPECT_THAT(CheckBudgets(def, kGroups),
              ElementsAre(HasSubstr("business media: unit \"credits\" has no conversion")));
  def = TwoBusinesses();
  def.businesses.push_back(def.businesses[0]);
  def.businesses.back().per_period = {-1};
  EXPECT_THAT(CheckBudgets(def, kGroups), ElementsAre("business retail: is there twice"));
  def.businesses.back().name = "other";
  EXPECT_THAT(CheckBudgets(def, kGroups),
              ElementsAre(HasSubstr("business other: budget -0.000001: expected 0 to")));
  EXPECT_THAT(CheckBudgets(TwoBusinesses(), {}), SizeIs(2));
  def = TwoBusinesses();
  def.groups[1].funding.insert(def.groups[1].funding.begin(), {kNovember + 5, {}});
  EXPECT_THAT(CheckBudgets(def, kGroups),
              ElementsAre(HasSubstr("group web: expected a date"), HasSubstr("only the first")));
}

TEST(BudgetChanges, AreNoneTheSecondTime) {
  const BudgetAccounts accounts = BookOf(TwoBusinesses());
  EXPECT_THAT(Changes(TwoBusinesses(), accounts), IsEmpty());
  EXPECT_THAT(Changes(TwoBusinesses(), accounts, kNovember + 20 * kDaySeconds), IsEmpty());
}

TEST(BudgetChanges, CountFromTheNextDayAndTheNextPeriod) {
  BudgetAccounts accounts = BookOf(TwoBusinesses());
  BudgetDefinition def = TwoBusinesses();
  def.groups[0].funding[0].second = Shares({{"retail", 10'000}});
  def.businesses[0].per_period = Coins(1500);
  const int64_t now_s = kNovember + 3 * kDaySeconds + 77;
  const auto changes = Changes(def, accounts, now_s);
  ASSERT_THAT(changes, SizeIs(2));
  EXPECT_EQ(changes[0].act, BudgetAct::kBusiness);
  EXPECT_EQ(changes[1].from_s, kNovember + 4 * kDaySeconds);
  ASSERT_EQ(Enter(accounts, changes, now_s), absl::OkStatus());
  EXPECT_THAT(Changes(def, accounts, now_s + 5), IsEmpty());
  EXPECT_EQ(accounts.Find(Business("retail"))->balance(), Coins(1000)) << "this period has what it had";
  const auto end = accounts.ClosePeriod(BudgetPeriod::kMonth, {}, kDecember);
  ASSERT_EQ(Enter(accounts, *end, kDecember), absl::OkStatus());
  EXPECT_EQ(accounts.Find(Business("retail"))->balance(), Coins(1700));
}

TEST(BudgetChanges, OfThePastAreRefused) {
  const BudgetAccounts accounts = BookOf(TwoBusinesses());
  BudgetDefinition def = TwoBusinesses();
  def.groups[0].funding = {{kNovember, Shares({{"retail", 10'000}})}};
  EXPECT_THAT(std::string(ChangesTo(def, kPrice, accounts, kNovember + 5 * kDaySeconds).status().message()),
              HasSubstr("funding of group shop from 2026-11-01 is not what the ledger has since then"));
  def = TwoBusinesses();
  def.currency = "USD";
  EXPECT_THAT(std::string(ChangesTo(def, kPrice, accounts, kNovember).status().message()),
              HasSubstr("the ledger is in EUR"));
}

TEST(BudgetChanges, StepsOfTheFutureComeAndGo) {
  BudgetAccounts accounts = BookOf(TwoBusinesses());
  BudgetDefinition def = TwoBusinesses();
  auto& funding = def.groups[0].funding;
  funding.emplace_back(kNovember + 10 * kDaySeconds, Shares({{"media", 10'000}}));
  funding.emplace_back(kNovember + 20 * kDaySeconds, Shares({{"retail", 10'000}}));
  ASSERT_EQ(Enter(accounts, Changes(def, accounts), kNovember + 500), absl::OkStatus());
  EXPECT_THAT(Changes(def, accounts), IsEmpty());
  funding.erase(funding.begin() + 1);
  const auto fewer = Changes(def, accounts);
  ASSERT_EQ(Enter(accounts, fewer, kNovember + 600), absl::OkStatus());
  EXPECT_THAT(Changes(def, accounts), IsEmpty());
  EXPECT_EQ(accounts.FundersAt("shop", kNovember + 15 * kDaySeconds)->size(), 2u);
  funding.pop_back();
  ASSERT_EQ(Enter(accounts, Changes(def, accounts), kNovember + 700), absl::OkStatus());
  EXPECT_THAT(Changes(def, accounts), IsEmpty());
  EXPECT_EQ(accounts.FundersAt("shop", kNovember + 25 * kDaySeconds)->size(), 2u);
}

TEST(BudgetChanges, WhatIsRemovedKeepsItsMoneyUntilThePeriodEnds) {
  BudgetAccounts accounts = BookOf(TwoBusinesses());
  BudgetEntry give = Ask(BudgetAct::kTransfer, Business("retail"), Coins(10));
  give.to = GroupHolder("shop");
  ASSERT_EQ(accounts.Apply(*accounts.Make(give, false, {}, kNovember + 300)), absl::OkStatus());
  BudgetDefinition def = TwoBusinesses();
  def.businesses.pop_back();
  def.units.clear();
  def.groups.erase(def.groups.begin());
  const int64_t now_s = kNovember + 500;
  ASSERT_EQ(Enter(accounts, Changes(def, accounts), now_s), absl::OkStatus());
  EXPECT_TRUE(accounts.Find(Business("media"))->removed);
  EXPECT_EQ(accounts.Find(GroupHolder("shop"))->balance(), Coins(10));
  EXPECT_EQ(accounts.FundersAt("shop", now_s)->size(), 2u);
  EXPECT_TRUE(accounts.FundersAt("shop", NextDay(now_s))->empty());
  EXPECT_THAT(Changes(def, accounts), IsEmpty());
  BudgetEntry back = Ask(BudgetAct::kTransfer, Business("media"), Coins(20));
  back.to = Business("retail");
  EXPECT_TRUE(accounts.Make(back, false, {}, now_s).ok()) << "its money can leave";
  const auto end = accounts.ClosePeriod(BudgetPeriod::kMonth, {}, kDecember);
  ASSERT_EQ(Enter(accounts, *end, kDecember), absl::OkStatus());
  EXPECT_EQ(accounts.Find(Business("media")), nullptr);
  EXPECT_EQ(accounts.Find(GroupHolder("shop")), nullptr);
}

TEST(BudgetChanges, ABusinessThatPaysCannotGo) {
  BudgetAccounts accounts = BookOf(TwoBusinesses());
  BudgetEntry e = Ask(BudgetAct::kRemove, Business("media"));
  e.id = accounts.last_id() + 1;
  e.time_s = kNovember + 300;
  EXPECT_THAT(std::string(accounts.Apply(e).message()),
              HasSubstr("business:media pays for group:shop after today"));
}

}  // namespace
}  // namespace taut::brain
