#include "node/agent/cpu_weight.h"

#include <gtest/gtest.h>

#include <cmath>

namespace taut::node {
namespace {

TEST(CpuWeight, ConvertsAsRuntimesDo) {
  EXPECT_EQ(WeightOfShares(2), 1);
  EXPECT_EQ(std::floor(WeightOfShares(1024)), 39);
  EXPECT_EQ(WeightOfShares(262'144), 10'000);
  EXPECT_EQ(WeightOfShares(0), 1);
  EXPECT_EQ(WeightOfShares(~uint64_t{0}), 10'000);
  EXPECT_EQ(SharesOfWeight(0), 2U);
  EXPECT_EQ(SharesOfWeight(10'000), 262'144U);
  EXPECT_EQ(SharesOfWeight(1'000'000), 262'144U);
}

TEST(CpuWeight, SharesComeBackAsTheyWere) {
  for (uint64_t shares = 2; shares <= 262'144; ++shares) {
    ASSERT_EQ(SharesOfWeight(WeightOfShares(shares)), shares);
  }
}

TEST(CpuWeight, AWholeWeightIsThatWeight) {
  for (int weight = kMinCpuWeight; weight <= kMaxCpuWeight; ++weight) {
    ASSERT_EQ(std::floor(WeightOfShares(SharesOfWeight(weight)) + 1e-9), weight);
  }
}

}  // namespace
}  // namespace taut::node
