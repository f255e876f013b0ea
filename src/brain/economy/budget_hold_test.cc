#include "brain/economy/budget_hold.h"

#include <string>

#include "brain/economy/budget_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;

// Returns a definition in which groups without money may start no new tasks. The group lab has only its own
// money.
BudgetDefinition Refusing() {
  BudgetDefinition def = TwoBusinesses();
  def.groups.push_back({.name = "lab", .funding = {}});
  for (BudgetDefinition::GroupRow& row : def.groups) row.when_spent = WhenSpent::kRefuse;
  return def;
}

constexpr int64_t kNow = kNovember + 10 * kDaySeconds;

TEST(BudgetHold, HoldsAGroupOnceOneOfItsBusinessesHasNothingLeft) {
  const BudgetDefinition def = Refusing();
  const BudgetAccounts accounts = BookOf(def);
  SpentByHolder spent = {{Business("retail"), {Coins(1000).micros - 1}}, {Business("media"), Coins(1999)}};
  EXPECT_THAT(HeldGroups(def, accounts, spent, kNow), ElementsAre(Key("lab")));
  spent[Business("retail")] = Coins(1000);
  const GroupHolds held = HeldGroups(def, accounts, spent, kNow);
  EXPECT_THAT(held, ElementsAre(Key("lab"), Key("shop"), Key("web")));
  EXPECT_EQ(held.at("web"),
            "Business \"retail\", which pays for group \"web\", has nothing left of its budget for the "
            "period that ends on 2026-12-01.");
  EXPECT_THAT(held.at("lab"), HasSubstr("No business pays for group \"lab\""));
  spent = {{Business("media"), Coins(2000)}};
  EXPECT_THAT(HeldGroups(def, accounts, spent, kNow), ElementsAre(Key("lab"), Key("shop")))
      << "media pays for shop";
}

TEST(BudgetHold, MoneyOfItsOwnAGrantAndAnOverrideFreeAGroup) {
  const BudgetDefinition def = Refusing();
  BudgetAccounts accounts = BookOf(def);
  BudgetEntry lend = Ask(BudgetAct::kTransfer, Business("retail"), Coins(10));
  lend.to = GroupHolder("lab");
  BudgetEntry more = Ask(BudgetAct::kOverride, Business("retail"), Coins(5));
  more.until_s = kNow + kDaySeconds;
  for (const BudgetEntry& asked : {lend, more}) {
    const auto made = accounts.Make(asked, false, {}, kNow);
    ASSERT_TRUE(made.ok()) << made.status();
    ASSERT_EQ(Enter(accounts, {*made}, kNow), absl::OkStatus());
  }
  const SpentByHolder spent = {{Business("retail"), Coins(990)}, {GroupHolder("lab"), Coins(9)}};
  EXPECT_THAT(HeldGroups(def, accounts, spent, kNow), IsEmpty());
  EXPECT_THAT(HeldGroups(def, accounts, spent, kNow + kDaySeconds), ElementsAre(Key("shop"), Key("web")))
      << "the override has ended";
  EXPECT_THAT(HeldGroups(def, accounts, {{GroupHolder("lab"), Coins(10)}}, kNow), ElementsAre(Key("lab")));
}

TEST(BudgetHold, AFrozenBusinessHoldsAndOthersAreNeverHeld) {
  BudgetDefinition def = Refusing();
  BudgetAccounts accounts = BookOf(def);
  const auto made = accounts.Make(Ask(BudgetAct::kFreeze, Business("media")), false, {}, kNow);
  ASSERT_TRUE(made.ok()) << made.status();
  ASSERT_EQ(Enter(accounts, {*made}, kNow), absl::OkStatus());
  EXPECT_THAT(HeldGroups(def, accounts, {}, kNow).at("shop"), HasSubstr("is frozen"));
  EXPECT_FALSE(HeldGroups(def, accounts, {}, kNow).contains("web"));
  for (BudgetDefinition::GroupRow& row : def.groups) row.when_spent = WhenSpent::kContinue;
  EXPECT_THAT(HeldGroups(def, accounts, {{Business("retail"), Coins(5000)}}, kNow), IsEmpty());
  EXPECT_THAT(HeldGroups(Refusing(), BudgetAccounts(), {}, kNow), IsEmpty()) << "no period is open";
}

}  // namespace
}  // namespace taut::brain
