#include "brain/economy/budget_spending.h"

#include <algorithm>

#include "brain/economy/budget_fixture.h"
#include "common/base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

TEST(Attribution, FollowsTheSharesInForceToTheLastUnit) {
  const BudgetAccounts accounts = BookOf(TwoBusinesses());
  const auto of =
      Attribute(accounts, {{"shop", kNovember, {1001}}, {"web", kNovember, {5}}, {"stray", kNovember, {7}}});
  ASSERT_TRUE(of.ok()) << of.status();
  EXPECT_EQ(of->groups.at("shop").payers.at("retail"), Money{701});
  EXPECT_EQ(of->groups.at("shop").payers.at("media"), Money{300});
  EXPECT_EQ(of->spent.at(Business("retail")), Money{706});
  EXPECT_EQ(of->spent.at(Business("media")), Money{600});  // credits of 0.50 EUR each
  EXPECT_EQ(of->unfunded, Money{7});
  EXPECT_EQ(of->total, Money{1013});
}

TEST(Attribution, AGroupsOwnMoneyPaysFirstFromTheEarliestDay) {
  BudgetAccounts accounts = BookOf(TwoBusinesses());
  BudgetEntry e = Ask(BudgetAct::kTransfer, Business("retail"), {150});
  e.to = GroupHolder("shop");
  ASSERT_EQ(accounts.Apply(*accounts.Make(e, false, {}, kNovember + 200)), absl::OkStatus());
  const auto of = Attribute(accounts, {{"shop", kNovember + kDaySeconds, {100}}, {"shop", kNovember, {100}}});
  ASSERT_TRUE(of.ok());
  EXPECT_EQ(of->spent.at(GroupHolder("shop")), Money{150});
  EXPECT_EQ(of->groups.at("shop").payers.at("retail"), Money{35});
}

TEST(Attribution, AChangeOfSharesCountsFromItsDay) {
  BudgetAccounts accounts = BookOf(TwoBusinesses());
  BudgetEntry e = Ask(BudgetAct::kFunding, GroupHolder("web"));
  e.from_s = kNovember + 2 * kDaySeconds;
  e.parts = Shares({{"media", 10'000}});
  ASSERT_EQ(Enter(accounts, {e}, kNovember + kDaySeconds), absl::OkStatus());
  const auto of = Attribute(
      accounts, {{"web", kNovember + kDaySeconds, {100}}, {"web", kNovember + 2 * kDaySeconds, {50}}});
  ASSERT_TRUE(of.ok());
  EXPECT_EQ(of->groups.at("web").payers.at("retail"), Money{100});
  EXPECT_EQ(of->groups.at("web").payers.at("media"), Money{50});
  e.from_s = kNovember + kDaySeconds;
  EXPECT_FALSE(Enter(accounts, {e}, kNovember + kDaySeconds + 5).ok()) << "a share of a day that has begun";
}

TEST(Attribution, PartsAddUp) {
  Rng rng(3);
  for (int run = 0; run < 300; ++run) {
    BudgetDefinition def = TwoBusinesses();
    const auto bp = static_cast<int64_t>(rng.Below(9999)) + 1;
    def.groups[0].funding = {{std::nullopt, Shares({{"retail", bp}, {"media", 10'000 - bp}})}};
    if (run % 3 == 0) def.groups[1].funding.clear();
    BudgetAccounts accounts = BookOf(def);
    BudgetEntry e = Ask(BudgetAct::kGrant, GroupHolder("web"), {static_cast<int64_t>(rng.Below(5000)) + 1});
    ASSERT_EQ(accounts.Apply(*accounts.Make(e, false, {}, kNovember + 200)), absl::OkStatus());
    std::vector<GroupDay> days;
    int64_t sum = 0;
    for (int i = 0; i < 40; ++i) {
      const char* groups[] = {"shop", "web", "stray"};
      days.push_back({groups[rng.Below(3)],
                      kNovember + static_cast<int64_t>(rng.Below(30)) * kDaySeconds,
                      {static_cast<int64_t>(rng.Below(1000))}});
      sum += days.back().amount.micros;
    }
    const auto of = Attribute(accounts, days);
    ASSERT_TRUE(of.ok());
    int64_t parts = of->unfunded.micros, by_group = 0;
    for (const auto& [holder, amount] : of->in_currency) parts += amount.micros;
    for (const auto& [group, spending] : of->groups) {
      int64_t of_group = spending.own.micros + spending.unfunded.micros;
      for (const auto& [business, amount] : spending.payers) of_group += amount.micros;
      EXPECT_EQ(of_group, spending.spent.micros);
      by_group += of_group;
    }
    EXPECT_EQ(parts, sum);
    EXPECT_EQ(by_group, sum);
    EXPECT_EQ(of->total.micros, sum);
  }
}

TEST(Attribution, TheRestOfThePeriodIsAsTheLastDays) {
  const BudgetAccounts accounts = BookOf(TwoBusinesses());
  const int64_t now_s = kNovember + 20 * kDaySeconds + kDaySeconds / 2;
  std::vector<GroupDay> recent;
  for (int day = 0; day < 7; ++day) recent.push_back({"web", kNovember + (13 + day) * kDaySeconds, Coins(2)});
  const auto rest = RestOfPeriod(accounts, recent, 7 * kDaySeconds, now_s);
  ASSERT_TRUE(rest.ok());
  EXPECT_EQ(rest->size(), 10u);
  EXPECT_EQ(rest->front().amount, Coins(1));
  const auto of = Attribute(accounts, *rest);
  EXPECT_EQ(of->spent.at(Business("retail")), Coins(19));
}

TEST(Attribution, SumsThatDoNotFitAreRefused) {
  const BudgetAccounts accounts = BookOf(TwoBusinesses());
  EXPECT_EQ(Attribute(accounts, {{"web", kNovember, {INT64_MAX}}, {"shop", kNovember, {1}}}).status().code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(Attribute(accounts, {{"web", kNovember, {-1}}}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace taut::brain
