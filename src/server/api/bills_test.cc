// Tests of bills from a known account.
#include "server/pool/bills.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/api/account_fixture.h"

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr WindowId kBillDay{(1'700'006'400 / 86'400) * 288};

// Returns an entry with used and reserved core-hours, without memory.
AccountEntry CoreHours(uint32_t job, uint64_t usage, uint64_t allocation, uint32_t windows = 288,
                       uint32_t without = 0) {
  AccountEntry e{.job = JobId{job}};
  AccountAmounts& cpu = e.of[0];
  cpu.usage = usage * brain::kMillicoreSecondsPerCoreHour;
  cpu.allocation = allocation * brain::kMillicoreSecondsPerCoreHour;
  // The billed amount is a sum over windows, so it exceeds the totals of usage and allocation.
  cpu.billed = std::max(cpu.usage, cpu.allocation) + 5 * brain::kMillicoreSecondsPerCoreHour;
  cpu.windows = windows;
  cpu.windows_without_allocation = without;
  return e;
}

brain::Pricing TwoTiers(brain::ChargeRule rule) {
  brain::Pricing out;
  const auto price = [](int64_t from_s, int64_t micros) {
    return brain::Price{from_s, {brain::Money{micros}, brain::Money{0}}};
  };
  out.sheet.tiers = {{.name = "production", .rule = rule, .prices = {price(0, 30'000)}},
                     {.name = "batch", .rule = brain::ChargeRule::kUsage, .prices = {price(0, 10'000)}}};
  out.tier_rules = {{"*/cronjob/*", {}, {}, 1}};
  return out;
}

class BillsTest : public testing::Test {
 protected:
  BillsTest() {
    store_.first = kBillDay;
    store_.jobs = {{JobId{0}, "shop/web", {}, 0},
                   {JobId{1}, "shop/cronjob/night", {}, 0},
                   {JobId{2}, "media/encode", {}, 0}};
  }
  AccountBill Make(const brain::Pricing& pricing) {
    auto made = BillAccount(store_, view_, pricing, kBillDay, WindowId{kBillDay.index + 2 * kWindowsPerDay});
    EXPECT_TRUE(made.ok()) << made.status();
    return made.ok() ? *made : AccountBill();
  }
  AccountStore store_;
  FleetView view_;
};

TEST_F(BillsTest, GroupsPayByTheirTiersRules) {
  store_.account = {
      {{kBillDay, kWindowsPerDay}, {CoreHours(0, 10, 40), CoreHours(1, 7, 9), CoreHours(2, 1, 2)}},
      {{WindowId{kBillDay.index + kWindowsPerDay}, 1}, {CoreHours(0, 1, 2, 1)}}};
  const AccountBill of = Make(TwoTiers(brain::ChargeRule::kReservation));
  EXPECT_THAT(of.groups, ElementsAre("shop", "media"));
  ASSERT_EQ(of.bill.groups.size(), 2U);
  // 42 reserved core-hours at 0.03, and 7 used core-hours at 0.01.
  EXPECT_EQ(ToText(of.bill.groups[0].sums.total), "1.33");
  EXPECT_EQ(ToText(of.bill.groups[1].sums.total), "0.06");
  EXPECT_EQ(ToText(of.bill.sums.total), "1.39");
}

TEST_F(BillsTest, TheLargerOfBothIsThatOfTheWindowsNotOfTheDay) {
  store_.account = {{{kBillDay, kWindowsPerDay}, {CoreHours(2, 10, 40)}}};
  EXPECT_EQ(ToText(Make(TwoTiers(brain::ChargeRule::kMaxRequestUsage)).bill.sums.total), "1.35");
}

TEST_F(BillsTest, UsageIsChargedWhereNoLimitWasKnown) {
  store_.account = {{{kBillDay, kWindowsPerDay}, {CoreHours(2, 10, 0, 288, 288)}}};
  EXPECT_EQ(ToText(Make(TwoTiers(brain::ChargeRule::kReservation)).bill.sums.total), "0.30");
  store_.account = {{{kBillDay, kWindowsPerDay}, {CoreHours(2, 12, 40, 288, 72)}}};
  const AccountBill of = Make(TwoTiers(brain::ChargeRule::kReservation));
  EXPECT_EQ(ToText(of.bill.sums.total), "1.29");  // 40 + 12 / 4 core-hours are reserved
  EXPECT_EQ(of.without_allocation, 72U);
}

TEST_F(BillsTest, APriceOfAnotherDateCountsFromThere) {
  brain::Pricing pricing = TwoTiers(brain::ChargeRule::kReservation);
  pricing.sheet.tiers[0].prices.push_back(
      {WindowId{kBillDay.index + kWindowsPerDay}.start_s(), {brain::Money{60'000}, brain::Money{0}}});
  store_.account = {{{kBillDay, kWindowsPerDay}, {CoreHours(2, 0, 10)}},
                    {{WindowId{kBillDay.index + kWindowsPerDay}, kWindowsPerDay}, {CoreHours(2, 0, 10)}}};
  EXPECT_EQ(ToText(Make(pricing).bill.sums.total), "0.90");
}

TEST_F(BillsTest, TheCostOfThePoolIsRecoveredToTheLastUnit) {
  brain::Pricing pricing = TwoTiers(brain::ChargeRule::kReservation);
  pricing.pool = brain::PoolPrices{.cores = 3,
                                   .cost = {0, {brain::Money{20'000}, brain::Money{0}}},
                                   .idle = brain::CostSharing::kProportional};
  store_.account = {{{kBillDay, kWindowsPerDay}, {CoreHours(0, 1, 7), CoreHours(2, 1, 11)}}};
  const AccountBill of = Make(pricing);
  EXPECT_EQ(ToText(of.bill.machine_cost), "2.88");  // 3 cores for 48 hours
  EXPECT_EQ(of.bill.sums.total, of.bill.machine_cost);
  EXPECT_EQ(of.bill.platform, brain::Money());
  store_.account[0].first.first = WindowId{kBillDay.index + kWindowsPerDay};
  store_.first = WindowId{kBillDay.index + kWindowsPerDay};
  EXPECT_EQ(ToText(Make(pricing).bill.machine_cost), "1.44");  // the store starts a day later
  store_.account.clear();
  store_.first.reset();
  EXPECT_EQ(ToText(Make(pricing).bill.machine_cost), "0.00");
}

TEST_F(BillsTest, WhatIsReadLaterOfTodayIsBilledUpToNow) {
  brain::Pricing pricing = TwoTiers(brain::ChargeRule::kUsageSlackTax);
  pricing.pool = brain::PoolPrices{
      .cores = 3, .memory_bytes = 0, .cost = {0, {brain::Money{20'000}, brain::Money{0}}}, .idle = {}};
  store_.account = {{{kBillDay, kWindowsPerDay, true}, {CoreHours(2, 1, 2)}}};
  const auto made = BillAccount(store_, view_, pricing, kBillDay, WindowId{kBillDay.index + 12});
  EXPECT_TRUE(made.ok()) << made.status();
}

TEST_F(BillsTest, PeakIsRefusedBecauseTheAccountHasNone) {
  const auto made = BillAccount(store_, view_, TwoTiers(brain::ChargeRule::kPeak), kBillDay, kBillDay.next());
  EXPECT_EQ(made.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(made.status().message()), HasSubstr("tier \"production\" is charged by peak"));
}

}  // namespace
}  // namespace taut::server
