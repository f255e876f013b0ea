#include "tools/sim/actuary_replay.h"

#include <cmath>
#include <numbers>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::tools {
namespace {

PoolSeries PoolDays(int days, double capacity) {
  PoolSeries out;
  for (int t = 0; t < days * 288; ++t) {
    out.capacity.push_back(capacity);
    out.use.push_back(capacity * (0.4 + 0.1 * std::sin(2 * std::numbers::pi * t / 288)));
  }
  return out;
}

ActuaryReplayOptions ActuaryOptions() {
  ActuaryReplayOptions out;
  out.actuary.horizon_steps = 12;
  out.warmup_steps = 7 * 288;
  return out;
}

TEST(ActuaryReplay, AnEvenSeasonIsSoldAlmostWhole) {
  const auto result = ReplayActuary(PoolDays(28, 1), ActuaryOptions());
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->sellers.size(), 5U);
  const SellerScore& actuary = result->sellers[0];
  EXPECT_EQ(actuary.sales, 21U * 24);
  EXPECT_GT(actuary.kept_share, 0.97);
  EXPECT_GT(actuary.of_clairvoyant, 0.95);
  const SellerScore& clairvoyant = result->sellers[4];
  EXPECT_EQ(clairvoyant.broken, 0U);
  EXPECT_DOUBLE_EQ(clairvoyant.of_clairvoyant, 1);
  EXPECT_EQ(result->sellers[3].broken, result->sellers[3].sales)
      << "who sells everything breaks every promise";
}

TEST(ActuaryReplay, TheUnitDoesNotMatter) {
  const auto shares = ReplayActuary(PoolDays(21, 1), ActuaryOptions()),
             cores = ReplayActuary(PoolDays(21, 4000), ActuaryOptions());
  ASSERT_TRUE(shares.ok() && cores.ok());
  for (size_t i = 0; i < shares->sellers.size(); ++i) {
    const SellerScore &a = shares->sellers[i], &b = cores->sellers[i];
    EXPECT_NEAR(a.of_clairvoyant, b.of_clairvoyant, 1e-3) << a.seller;
    EXPECT_NEAR(a.mean_amount * 4000, b.mean_amount, 4) << a.seller;
    EXPECT_NEAR(a.net_of_clairvoyant, b.net_of_clairvoyant, 1e-3) << a.seller;
  }
}

TEST(ActuaryReplay, WhatIsNotMeasuredIsNotZero) {
  PoolSeries series = PoolDays(21, 1);
  for (size_t t = 10 * 288; t < 11 * 288; ++t) series.use[t] = std::nan("");
  const auto result = ReplayActuary(series, ActuaryOptions());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_GT(result->sellers[0].kept_share, 0.97);
  EXPECT_LT(result->sellers[0].mean_amount, 0.65);
}

TEST(ActuaryReplay, NamesWhatIsWrong) {
  ActuaryReplayOptions options = ActuaryOptions();
  EXPECT_FALSE(ReplayActuary(PoolDays(7, 1), options).ok());
  options.actuary.promise = 1;
  EXPECT_FALSE(ReplayActuary(PoolDays(14, 1), options).ok());
  PoolSeries series = PoolDays(14, 1);
  series.capacity.pop_back();
  EXPECT_FALSE(ReplayActuary(series, ActuaryOptions()).ok());
}

}  // namespace
}  // namespace taut::tools
