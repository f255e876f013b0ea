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
const Price kPrice = {0, Coins(1), Coins(1)};

std::vector<BudgetEntry> Changes(const BudgetDefinition& def, const BudgetBook& book,
                                 int64_t now_s = kNovember + 500) {
  const auto changes = ChangesTo(def, kPrice, book, now_s);
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
  const BudgetBook book = BookOf(TwoBusinesses());
  EXPECT_THAT(Changes(TwoBusinesses(), book), IsEmpty());
  EXPECT_THAT(Changes(TwoBusinesses(), book, kNovember + 20 * kDaySeconds), IsEmpty());
}

TEST(BudgetChanges, CountFromTheNextDayAndTheNextPeriod) {
  BudgetBook book = BookOf(TwoBusinesses());
  BudgetDefinition def = TwoBusinesses();
  def.groups[0].funding[0].second = Shares({{"retail", 10'000}});
  def.businesses[0].per_period = Coins(1500);
  const int64_t now_s = kNovember + 3 * kDaySeconds + 77;
  const auto changes = Changes(def, book, now_s);
  ASSERT_THAT(changes, SizeIs(2));
  EXPECT_EQ(changes[0].act, BudgetAct::kBusiness);
  EXPECT_EQ(changes[1].from_s, kNovember + 4 * kDaySeconds);
  ASSERT_EQ(Enter(book, changes, now_s), absl::OkStatus());
  EXPECT_THAT(Changes(def, book, now_s + 5), IsEmpty());
  EXPECT_EQ(book.Find(Business("retail"))->balance(), Coins(1000)) << "this period has what it had";
  const auto end = book.ClosePeriod(BudgetPeriod::kMonth, {}, kDecember);
  ASSERT_EQ(Enter(book, *end, kDecember), absl::OkStatus());
  EXPECT_EQ(book.Find(Business("retail"))->balance(), Coins(1700));
}

TEST(BudgetChanges, OfThePastAreRefused) {
  const BudgetBook book = BookOf(TwoBusinesses());
  BudgetDefinition def = TwoBusinesses();
  def.groups[0].funding = {{kNovember, Shares({{"retail", 10'000}})}};
  EXPECT_THAT(std::string(ChangesTo(def, kPrice, book, kNovember + 5 * kDaySeconds).status().message()),
              HasSubstr("funding of group shop from 2026-11-01 is not what the ledger has since then"));
  def = TwoBusinesses();
  def.currency = "USD";
  EXPECT_THAT(std::string(ChangesTo(def, kPrice, book, kNovember).status().message()),
              HasSubstr("the ledger is in EUR"));
}

TEST(BudgetChanges, StepsOfTheFutureComeAndGo) {
  BudgetBook book = BookOf(TwoBusinesses());
  BudgetDefinition def = TwoBusinesses();
  auto& funding = def.groups[0].funding;
  funding.emplace_back(kNovember + 10 * kDaySeconds, Shares({{"media", 10'000}}));
  funding.emplace_back(kNovember + 20 * kDaySeconds, Shares({{"retail", 10'000}}));
  ASSERT_EQ(Enter(book, Changes(def, book), kNovember + 500), absl::OkStatus());
  EXPECT_THAT(Changes(def, book), IsEmpty());
  funding.erase(funding.begin() + 1);
  const auto fewer = Changes(def, book);
  ASSERT_EQ(Enter(book, fewer, kNovember + 600), absl::OkStatus());
  EXPECT_THAT(Changes(def, book), IsEmpty());
  EXPECT_EQ(book.FundersAt("shop", kNovember + 15 * kDaySeconds)->size(), 2u);
  funding.pop_back();
  ASSERT_EQ(Enter(book, Changes(def, book), kNovember + 700), absl::OkStatus());
  EXPECT_THAT(Changes(def, book), IsEmpty());
  EXPECT_EQ(book.FundersAt("shop", kNovember + 25 * kDaySeconds)->size(), 2u);
}

TEST(BudgetChanges, WhatIsRemovedKeepsItsMoneyUntilThePeriodEnds) {
  BudgetBook book = BookOf(TwoBusinesses());
  BudgetEntry give = Ask(BudgetAct::kTransfer, Business("retail"), Coins(10));
  give.to = GroupHolder("shop");
  ASSERT_EQ(book.Apply(*book.Make(give, false, {}, kNovember + 300)), absl::OkStatus());
  BudgetDefinition def = TwoBusinesses();
  def.businesses.pop_back();
  def.units.clear();
  def.groups.erase(def.groups.begin());
  const int64_t now_s = kNovember + 500;
  ASSERT_EQ(Enter(book, Changes(def, book), now_s), absl::OkStatus());
  EXPECT_TRUE(book.Find(Business("media"))->removed);
  EXPECT_EQ(book.Find(GroupHolder("shop"))->balance(), Coins(10));
  EXPECT_EQ(book.FundersAt("shop", now_s)->size(), 2u);
  EXPECT_TRUE(book.FundersAt("shop", NextDay(now_s))->empty());
  EXPECT_THAT(Changes(def, book), IsEmpty());
  BudgetEntry back = Ask(BudgetAct::kTransfer, Business("media"), Coins(20));
  back.to = Business("retail");
  EXPECT_TRUE(book.Make(back, false, {}, now_s).ok()) << "its money can leave";
  const auto end = book.ClosePeriod(BudgetPeriod::kMonth, {}, kDecember);
  ASSERT_EQ(Enter(book, *end, kDecember), absl::OkStatus());
  EXPECT_EQ(book.Find(Business("media")), nullptr);
  EXPECT_EQ(book.Find(GroupHolder("shop")), nullptr);
}

TEST(BudgetChanges, ABusinessThatPaysCannotGo) {
  BudgetBook book = BookOf(TwoBusinesses());
  BudgetEntry e = Ask(BudgetAct::kRemove, Business("media"));
  e.id = book.last_id() + 1;
  e.time_s = kNovember + 300;
  EXPECT_THAT(std::string(book.Apply(e).message()),
              HasSubstr("business:media pays for group:shop after today"));
}

}  // namespace
}  // namespace taut::brain
