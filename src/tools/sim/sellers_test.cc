#include "tools/sim/sellers.h"

#include <cmath>
#include <vector>

#include "common/base/random.h"
#include "gtest/gtest.h"

namespace taut::tools {
namespace {

const double kNoNumber = std::nan("");

// 60 is available with a probability of 99 %, so batch receives 60.
TEST(QuantileAmount, BatchSixtyOfAHundred) {
  std::vector<double> available(990, 60);
  for (int i = 0; i < 10; ++i) available.push_back(45);
  EXPECT_EQ(QuantileAmount(available, 0.99), 60);
  available.push_back(45);
  EXPECT_EQ(QuantileAmount(available, 0.99), 45);
  EXPECT_EQ(QuantileAmount({}, 0.99), std::nullopt);
  EXPECT_EQ(QuantileAmount(std::vector<double>{kNoNumber}, 0.99), std::nullopt);
}

// 50 + 80 are sold from a capacity of 100. While B and C use 60, A requests 50 and obtains 40.
TEST(Obtainable, AGetsForty) {
  EXPECT_EQ(Obtainable(100, 60, 50), 40);
  EXPECT_EQ(Obtainable(100, 40, 50), 50);
  EXPECT_EQ(Obtainable(100, 120, 50), 0);
}

// Values from tables of t at 95 %; the last value is from the expansion for many degrees of freedom.
TEST(StudentQuantile, IsWithinAThousandth) {
  EXPECT_NEAR(StudentQuantile(0.95, 11), 1.795885, 2e-3);
  EXPECT_NEAR(StudentQuantile(0.95, 30), 1.697261, 2e-3);
  EXPECT_NEAR(StudentQuantile(0.95, 100), 1.660234, 2e-3);
  EXPECT_NEAR(StudentQuantile(0.95, 8639), 1.645030, 2e-3);
}

TEST(Cloudrm, FollowsTheRule) {
  // With fewer than 12 values the quota is available / SLO.
  EXPECT_DOUBLE_EQ(*CloudrmQuota(std::vector<double>(11, 45.0), 300, 0.9), 50);
  EXPECT_DOUBLE_EQ(*GreedyQuota(std::vector<double>{50, 45, kNoNumber}, 0.9), 50);
  EXPECT_EQ(CloudrmQuota({}, 300, 0.9), std::nullopt);
  // Without variation, the quota is mean / SLO.
  EXPECT_NEAR(*CloudrmQuota(std::vector<double>(600, 45.0), 300, 0.9), 50, 1e-9);
  // A day at 40 is followed by an hour at 52. The lowest of the three means is 40, from yesterday's values at the
  // time of the next hour.
  std::vector<double> past(288, 40);
  past.insert(past.end(), 12, 52);
  const double mean = (288 * 40 + 12 * 52) / 300.0;
  const double sd = std::sqrt((288 * std::pow(40 - mean, 2) + 12 * std::pow(52 - mean, 2)) / 299);
  EXPECT_NEAR(*CloudrmQuota(past, 300, 0.5), (40 - sd * 1.6500 * std::sqrt(1 + 1 / 300.0)) / 0.5, 0.02);
  EXPECT_NEAR(*MeanQuota(past, 300, 0.5), 80, 1e-9) << "the same mean, without the correction";
  EXPECT_DOUBLE_EQ(*MeanQuota(std::vector<double>(11, 45.0), 300, 0.9), 50);
  EXPECT_EQ(MeanQuota({}, 300, 0.9), std::nullopt);
  // The quota is never below 0.
  std::vector<double> wild;
  for (int i = 0; i < 100; ++i) wild.push_back(i % 2 == 0 ? 0 : 10);
  EXPECT_EQ(*CloudrmQuota(wild, 300, 0.9), 0);
}

// 10 is available in 10 steps and 4 in one step, so the unit at height 5 runs in 10 of 11 steps.
TEST(Settle, PaysForUnitsThatRanAndPenalizesTheOthers) {
  std::vector<double> available(10, 10);
  available.push_back(4);
  SaleAccount a = *Settle(available, 8, 0.9, 100);
  EXPECT_EQ(a.kept_amount, 8);
  EXPECT_EQ(a.missed_steps, 1);
  EXPECT_EQ(a.revenue_micro, 90 * (8 * 10 + 4));
  EXPECT_EQ(a.penalty_micro, 0);
  EXPECT_EQ(a.taken_back, 4);
  a = *Settle(available, 8, 0.95, 100);
  EXPECT_EQ(a.kept_amount, 4);
  EXPECT_EQ(a.revenue_micro, 95 * 4 * 11);
  EXPECT_EQ(a.penalty_micro, 95 * 4 * 11);
  EXPECT_EQ(Settle(available, -1, 0.9, 100).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Settle(available, 1, 0, 100).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Settle(available, 1, 0.9, -1).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Settle(available, 1e15, 0.9, 1'000'000).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Settle({}, 1, 0.9, 1)->revenue_micro, 0);
}

// The bound is at least the amount of any seller that keeps the promise on average, such as the seller per
// horizon.
TEST(PooledBound, IsNotBelowTheClairvoyantSeller) {
  Rng rng(3);
  for (int round = 0; round < 20; ++round) {
    std::vector<double> available;
    for (int i = 0; i < 1000; ++i) available.push_back(rng.Uniform());
    const int64_t horizon = 10 * (1 + static_cast<int64_t>(rng.Below(10)));
    double sum = 0, n = 0;
    for (size_t i = 0; i + static_cast<size_t>(horizon) <= 1000; i += static_cast<size_t>(horizon)) {
      sum += *QuantileAmount(std::span(available).subspan(i, static_cast<size_t>(horizon)), 0.95);
      ++n;
    }
    EXPECT_GE(*PooledBound(available, horizon, 0.95), sum / n - 1e-9);
    EXPECT_LE(*PooledBound(available, horizon, 0.95), 1);
  }
  EXPECT_EQ(PooledBound(std::vector<double>(5, 1.0), 6, 0.9), std::nullopt);
}

}  // namespace
}  // namespace taut::tools
