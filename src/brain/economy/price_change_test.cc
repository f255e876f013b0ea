#include "brain/economy/price_change.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "brain/economy/metering.h"

namespace taut::brain {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t kChangedAt = 1000, kAlways = -kMaxBillSeconds;

Pricing PricingBefore() {
  Pricing out;
  PriceTier tier;
  tier.name = "production";
  tier.prices = {{kAlways, {Money{40'000}, Money{5'000}}}, {500, {Money{30'000}, Money{5'000}}}};
  out.sheet.tiers = {tier};
  return out;
}

TEST(PriceChanges, WhatIsTheSameOrToComeIsNone) {
  Pricing after = PricingBefore();
  EXPECT_THAT(ChangesBefore(PricingBefore(), after, kChangedAt), IsEmpty());
  after.sheet.tiers[0].prices.push_back({kChangedAt, {Money{1}, Money{1}}});
  PriceTier tier = after.sheet.tiers[0];
  tier.name = "batch";
  after.sheet.tiers.push_back(tier);
  EXPECT_THAT(ChangesBefore(PricingBefore(), after, kChangedAt), IsEmpty())
      << "a price from now on, a tier without jobs";
}

TEST(PriceChanges, APriceOfThePastIsNamedWithItsTime) {
  Pricing after = PricingBefore();
  after.sheet.tiers[0].prices[0].per_hour[kCpuIndex] = {50'000};
  EXPECT_THAT(
      ChangesBefore(PricingBefore(), after, kChangedAt),
      ElementsAre(PriceChange{kAlways, 500, "tier production: 0.05 per core-hour, was 0.04 per core-hour"}));
  // Inserts a price that is valid from a past time until the unchanged next price.
  after = PricingBefore();
  after.sheet.tiers[0].prices.insert(after.sheet.tiers[0].prices.begin() + 1,
                                     Price{200, {Money{40'000}, Money{6'000}}});
  EXPECT_THAT(
      ChangesBefore(PricingBefore(), after, kChangedAt),
      ElementsAre(PriceChange{200, 500, "tier production: 0.006 per GiB-hour, was 0.005 per GiB-hour"}));
}

TEST(PriceChanges, APriceThatBeginsLaterLeavesNone) {
  Pricing after = PricingBefore();
  after.sheet.tiers[0].prices[0].from_s = 100;
  EXPECT_THAT(ChangesBefore(PricingBefore(), after, kChangedAt),
              ElementsAre(PriceChange{kAlways, 100, "tier production: no price, was 0.04 per core-hour"}));
}

// Two consecutive prices with one change are reported as one change.
TEST(PriceChanges, NeighboursWithOneChangeAreOne) {
  Pricing before = PricingBefore(), after = PricingBefore();
  before.sheet.tiers[0].prices[1].per_hour[kCpuIndex] = {40'000};
  after.sheet.tiers[0].prices = {{kAlways, {Money{60'000}, Money{5'000}}}};
  EXPECT_THAT(ChangesBefore(before, after, kChangedAt),
              ElementsAre(PriceChange{kAlways, kChangedAt,
                                      "tier production: 0.06 per core-hour, was 0.04 per core-hour"}));
}

TEST(PriceChanges, ARenamedTierShowsBothPrices) {
  Pricing after = PricingBefore();
  after.sheet.tiers[0].name = "bulk";
  after.sheet.tiers[0].prices[1].per_hour[kCpuIndex] = {50'000};
  EXPECT_THAT(
      ChangesBefore(PricingBefore(), after, kChangedAt),
      ElementsAre(PriceChange{kAlways, kChangedAt,
                              "tier production: no longer there, 0.03 per core-hour, 0.005 per GiB-hour"},
                  PriceChange{kAlways, kChangedAt, "tier bulk: new, 0.05 per core-hour, 0.005 per GiB-hour"},
                  PriceChange{kAlways, kChangedAt, "jobs find their tier by other rules"}));
}

TEST(PriceChanges, RulesPoolAndCurrencyCountForAllTimes) {
  Pricing after = PricingBefore();
  after.sheet.currency = "EUR";
  after.sheet.tiers[0].rule = ChargeRule::kUsage;
  after.tier_rules = {{"batch/*", std::nullopt, std::nullopt, 0}};
  after.group_rules = {{"shop*", "retail"}};
  after.pool = PoolPrices{10, 0, {}, CostSharing::kPlatform};
  EXPECT_THAT(
      ChangesBefore(PricingBefore(), after, kChangedAt),
      ElementsAre(PriceChange{kAlways, kChangedAt, "in EUR, was in USD"},
                  PriceChange{kAlways, kChangedAt, "tier production: charged by usage, was by reservation"},
                  PriceChange{kAlways, kChangedAt, "jobs find their tier by other rules"},
                  PriceChange{kAlways, kChangedAt, "jobs find their group by other rules"},
                  PriceChange{kAlways, kChangedAt, "the pool has another capacity or cost"}));
}

}  // namespace
}  // namespace taut::brain
