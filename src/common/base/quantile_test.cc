#include "common/base/quantile.h"

#include <gtest/gtest.h>

#include <vector>

namespace taut {
namespace {

TEST(InterpolatedQuantile, IsLinearBetweenRanks) {
  std::vector<float> odd = {4, 1, 3, 2, 5};
  EXPECT_DOUBLE_EQ(InterpolatedQuantile(odd, 0.5), 3);
  EXPECT_DOUBLE_EQ(InterpolatedQuantile(odd, 0.95), 4.8);
  EXPECT_DOUBLE_EQ(InterpolatedQuantile(odd, 1), 5);
  std::vector<float> even = {4, 1, 3, 2};
  EXPECT_DOUBLE_EQ(InterpolatedQuantile(even, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(InterpolatedQuantile(even, 0.9), 3.7);
  EXPECT_DOUBLE_EQ(InterpolatedQuantile(even, 0), 1);
  EXPECT_DOUBLE_EQ(InterpolatedQuantile(even, 1), 4);
  std::vector<float> one = {7};
  EXPECT_DOUBLE_EQ(InterpolatedQuantile(one, 0.95), 7);
}

}  // namespace
}  // namespace taut
