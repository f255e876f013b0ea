#include "tools/sim/moments.h"

#include <cmath>

#include "common/base/random.h"
#include "gtest/gtest.h"
#include "tools/sim/job_sizes.h"
#include "tools/sim/published.h"
#include "tools/sim/trace_tier.h"

namespace taut::tools {
namespace {

// Draws from a Pareto distribution with minimum 1.
double Pareto(double alpha, Rng& rng) { return std::pow(1 - rng.Uniform(0, 1), -1 / alpha); }

TEST(Moments, PartsMergedAreTheWhole) {
  Rng rng(11);
  for (int round = 0; round < 50; ++round) {
    Moments whole, left, right;
    const auto cut = static_cast<int>(rng.Below(200));
    double sum = 0, squares = 0;
    for (int i = 0; i < 200; ++i) {
      const double v = rng.Uniform(0, 1e6);
      whole.Add(v);
      (i < cut ? left : right).Add(v);
      sum += v, squares += v * v;
    }
    left.Merge(right);
    EXPECT_EQ(left.count(), 200U);
    EXPECT_NEAR(left.mean(), whole.mean(), 1e-9 * whole.mean());
    EXPECT_NEAR(left.variance(), whole.variance(), 1e-9 * whole.variance());
    EXPECT_NEAR(whole.mean(), sum / 200, 1e-6);
    EXPECT_NEAR(whole.variance(), squares / 200 - sum / 200 * sum / 200, 1e-3 * whole.variance());
  }
  EXPECT_EQ(Moments().squared_coefficient(), 0);
}

SizeDistribution DistributionOf(const std::vector<double>& values) {
  JobSizes sizes;
  for (size_t i = 0; i < values.size(); ++i) sizes.Add(MixBits(i), {values[i]});
  return sizes.DistributionOf(Resource::kCpu, sizes.SortedOf(Resource::kCpu));
}

TEST(Distribution, OfKnownValues) {
  std::vector<double> values(1000, 1.0);
  values[17] = 9001;  // one of 1,000 values is nine tenths of the sum
  const SizeDistribution d = DistributionOf(values);
  EXPECT_EQ(d.jobs, 1000U);
  EXPECT_DOUBLE_EQ(d.total, 10'000);
  EXPECT_DOUBLE_EQ(d.median, 1);
  EXPECT_DOUBLE_EQ(d.p999, 1);
  EXPECT_DOUBLE_EQ(d.max, 9001);
  EXPECT_DOUBLE_EQ(d.top_0_1_percent, 0.9001);
  EXPECT_DOUBLE_EQ(d.top_1_percent, 0.901);
  // The mean is 10, so 999 values have a distance of 9 and one value a distance of 8,991.
  EXPECT_NEAR(d.squared_coefficient, (999 * 81.0 + 8991.0 * 8991.0) / 1000 / 100, 1e-6);
  EXPECT_EQ(d.others.count(), 990U);
  EXPECT_EQ(d.others.squared_coefficient(), 0);
  EXPECT_EQ(d.pareto.points, 0U) << "no range to fit a line to";
  EXPECT_EQ(DistributionOf({}).jobs, 0U);
  EXPECT_EQ(DistributionOf({0, 0}).top_1_percent, 0);
}

TEST(Distribution, FindsTheParetoIndexAgain) {
  Rng rng(5);
  for (const double alpha : {0.69, 0.77, 1.5}) {
    std::vector<double> values;
    for (int i = 0; i < 200'000; ++i) values.push_back(Pareto(alpha, rng));
    const SizeDistribution d = DistributionOf(values);
    EXPECT_NEAR(d.pareto.alpha, alpha, 0.04 * alpha);
    EXPECT_GT(d.pareto.r_squared, 0.99);
    EXPECT_NEAR(d.pareto.from, d.p90, 1e-9);
  }
}

TEST(Distribution, TailDescendsAndBeginsAtTheSmallest) {
  const std::vector<TailPoint> tail = TailOf({.values = {0, 0, 1, 10, 100, 1000}}, 4);
  ASSERT_EQ(tail.size(), 3U) << "nothing is greater than the largest";
  EXPECT_DOUBLE_EQ(tail[0].value, 1);
  EXPECT_DOUBLE_EQ(tail[0].share, 0.5);
  EXPECT_NEAR(tail[2].share, 1.0 / 6, 1e-12);
  EXPECT_TRUE(TailOf({}, 4).empty());
}

// The paper's C^2 and waiting time agree with each other.
TEST(Queueing, PollaczekKhinchine) {
  EXPECT_NEAR(MeanWait(0.5, 23312), 11656.5, 1e-9);
  EXPECT_DOUBLE_EQ(MeanWait(0.5, 1), 1) << "M/M/1";
  EXPECT_DOUBLE_EQ(MeanWait(0.9, 0), 4.5) << "M/D/1";
  const auto sizes = PublishedSizes();
  const PublishedSize &c2 = sizes[2], &wait = sizes[5];
  EXPECT_NEAR(MeanWait(0.5, c2.cpu_2011), wait.cpu_2011, 1);
  EXPECT_NEAR(MeanWait(0.5, c2.memory_2011), wait.memory_2011, 1);
  EXPECT_NEAR(MeanWait(0.5, c2.memory_2019), wait.memory_2019, 1);
}

TEST(TraceTierTest, BandsOfBothTraces) {
  EXPECT_EQ(TierOf(0, PriorityBands::k2019), TraceTier::kFree);
  EXPECT_EQ(TierOf(115, PriorityBands::k2019), TraceTier::kBatch);
  EXPECT_EQ(TierOf(116, PriorityBands::k2019), TraceTier::kMid);
  EXPECT_EQ(TierOf(200, PriorityBands::k2019), TraceTier::kProduction);
  EXPECT_EQ(TierOf(360, PriorityBands::k2019), TraceTier::kMonitoring);
  EXPECT_EQ(TierOf(9, PriorityBands::k2011), TraceTier::kProduction);
  EXPECT_EQ(TierOf(11, PriorityBands::k2011), TraceTier::kMonitoring);
  EXPECT_EQ(TierOf(std::nullopt, PriorityBands::k2011), TraceTier::kUnknown);
  const std::optional<int> old[] = {0, 11, std::nullopt}, now[] = {0, 200};
  EXPECT_EQ(BandsOf(old), PriorityBands::k2011);
  EXPECT_EQ(BandsOf(now), PriorityBands::k2019);
}

}  // namespace
}  // namespace taut::tools
