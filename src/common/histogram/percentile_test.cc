// Tests the percentile rule with examples from the papers.
#include "common/histogram/percentile.h"

#include <gtest/gtest.h>

#include <vector>

#include "common/histogram/percentile_fixture.h"

namespace taut {
namespace {

// Four linear buckets 10 wide, as in the worked example of docs/references.md, A4.
const std::vector<double> kLower = {0, 10, 20, 30};
const std::vector<double> kUpper = {10, 20, 30, 40};

double P95(const std::vector<double>& weights, BucketValue value, LoadBound load) {
  return PercentileOfBuckets({kLower, kUpper, weights}, 0.95, PercentileOf::kLoad, value, load);
}

TEST(Percentile, WorkedExampleNeedsLowerBoundsAndInterpolation) {
  const std::vector<double> one_task = {0, 50, 200, 50};
  const std::vector<double> two_tasks = {0, 150, 300, 150};
  // One task: loads 0, 500, 4000, 1500. 95 % of 6000 is 5700, four fifths into the last bucket. The counts of two
  // tasks are published. The counts of one task are ours, chosen to yield the published 38.
  EXPECT_NEAR(P95(one_task, BucketValue::kInterpolated, LoadBound::kLower), 38.0000, 1e-9);
  EXPECT_NEAR(P95(two_tasks, BucketValue::kInterpolated, LoadBound::kLower), 38.0 + 2.0 / 3, 1e-9);
  // With upper bounds in place of lower bounds the figure differs. A limit must be a bucket bound.
  EXPECT_NEAR(P95(two_tasks, BucketValue::kInterpolated, LoadBound::kUpper), 38.5, 1e-9);
  EXPECT_EQ(P95(two_tasks, BucketValue::kUpperBound, LoadBound::kUpper), 40.0);
}

TEST(Percentile, ByTimeIsInclusive) {
  // Autopilot's figure 2: nine 1s and one 10; p90 by time is 1.
  const std::vector<double> lower = {0, 1};
  const std::vector<double> upper = {1, 10};
  const std::vector<double> weights = {9, 1};
  const auto p = [&](double j, PercentileOf of) {
    return PercentileOfBuckets({lower, upper, weights}, j, of);
  };
  EXPECT_EQ(p(0.90, PercentileOf::kTime), 1.0);
  EXPECT_EQ(p(0.91, PercentileOf::kTime), 10.0);
  // The load is h = {1: 9, 10: 10}: a limit of 1 serves 9/19 = 47.4 % (docs/references.md, A2).
  EXPECT_EQ(p(0.90, PercentileOf::kLoad), 10.0);
  EXPECT_EQ(p(9.0 / 19, PercentileOf::kLoad), 1.0);
  EXPECT_EQ(p(0.474, PercentileOf::kLoad), 10.0);
}

TEST(Percentile, EndsAndEmptyBuckets) {
  const auto p = [](const std::vector<double>& weights, double j) {
    return PercentileOfBuckets({kLower, kUpper, weights}, j, PercentileOf::kTime);
  };
  EXPECT_EQ(p({0, 3, 0, 3}, 0.0), 20.0);
  EXPECT_EQ(p({0, 3, 0, 3}, 0.5), 20.0);
  EXPECT_EQ(p({0, 3, 0, 3}, 0.51), 40.0);
  EXPECT_EQ(p({0, 3, 3, 0}, 1.0), 30.0);
  EXPECT_EQ(p({0, 3, 3, 0}, 7.0), 30.0);
  EXPECT_EQ(p({0, 0, 0, 0}, 0.5), 0.0);
  EXPECT_EQ(PercentileOfBuckets({}, 0.5, PercentileOf::kLoad), 0.0);
  // All weight is in a bucket whose lower bound is 0: the load is 0, but the histogram is not empty.
  EXPECT_EQ(P95({5, 0, 0, 0}, BucketValue::kUpperBound, LoadBound::kLower), 10.0);
}

TEST(Percentile, InterpolatesInsideTheBucket) {
  const auto p = [](double j) {
    return PercentileOfBuckets({kLower, kUpper, {0, 1, 0, 3}}, j, PercentileOf::kTime,
                               BucketValue::kInterpolated);
  };
  EXPECT_NEAR(p(0.125), 15.0, 1e-9);
  EXPECT_NEAR(p(0.25), 20.0, 1e-4);  // the bound itself, less the tolerance
  EXPECT_NEAR(p(0.625), 35.0, 1e-9);
  EXPECT_NEAR(p(1.0), 40.0, 1e-9);
}

}  // namespace
}  // namespace taut
