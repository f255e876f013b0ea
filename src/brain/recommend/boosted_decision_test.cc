#include "brain/recommend/boosted_decision.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "brain/recommend/job_days_ring.h"
#include "common/base/byte_units.h"

namespace taut::brain {
namespace {

constexpr double kNoBound = std::numeric_limits<double>::infinity();

BoostedCase CaseOf(double week_peak) {
  BoostedCase c;
  c.week_peak = week_peak;
  c.ceiling = 5 * week_peak;
  c.use = week_peak / 4;
  return c;
}

// Returns chances of usage above x that fall as exp(-rate x).
std::vector<float> ChancesOf(Resource resource, double rate) {
  std::vector<float> chances;
  for (const float x : BoostedGrid(resource))
    chances.push_back(static_cast<float>(std::min(1.0, std::exp(-rate * (double{x} + 0.5)))));
  return chances;
}

TEST(BoostedDecision, TheGridAscends) {
  for (const Resource r : kResources) {
    const auto grid = BoostedGrid(r);
    ASSERT_EQ(grid.size(), kBoostedPoints);
    for (size_t k = 1; k < grid.size(); ++k) EXPECT_LT(grid[k - 1], grid[k]);
  }
}

TEST(BoostedDecision, HarmOfMemoryIsTheChanceAndOfCpuTheWorkAbove) {
  const std::vector<float> of_memory = ChancesOf(Resource::kMemory, 5), of_cpu = ChancesOf(Resource::kCpu, 5);
  const BoostedForecast chances(of_memory, CaseOf(kGiB), Resource::kMemory);
  EXPECT_FLOAT_EQ(static_cast<float>(chances.harms[30]), of_memory[30]);
  EXPECT_NEAR(chances.HarmOf(chances.limits[30]), chances.harms[30], 1e-9);
  EXPECT_EQ(chances.HarmOf(1e18), chances.harms.back());
  EXPECT_EQ(chances.HarmOf(1), chances.harms.front());

  BoostedCase cpu = CaseOf(2);
  cpu.ceiling = 1e6;
  const BoostedForecast work(of_cpu, cpu, Resource::kCpu);
  EXPECT_EQ(work.harms.back(), 0);
  // The work above 0 is the mean usage: the integral of the shares.
  double integral = 0;
  for (size_t k = 1; k < work.limits.size(); ++k)
    integral += (double{of_cpu[k]} + double{of_cpu[k - 1]}) / 2 * (work.limits[k] - work.limits[k - 1]);
  EXPECT_NEAR(work.harms.front(), integral, 1e-9);
  cpu.ceiling = work.limits[40];
  const BoostedForecast bounded(of_cpu, cpu, Resource::kCpu);
  EXPECT_EQ(bounded.harms[40], 0);
  EXPECT_NEAR(bounded.harms[20], work.harms[20] - work.harms[40], 1e-9);
}

TEST(BoostedDecision, TheBestLimitHasTheLeastCostWithinTheBounds) {
  const BoostedCase job = CaseOf(kGiB);
  const BoostedForecast forecast(ChancesOf(Resource::kMemory, 5), job, Resource::kMemory);
  for (const double weight : {0.1 * kGiB, 1.0 * kGiB, 100.0 * kGiB}) {
    const BoostedChoice best = ChooseBoosted(forecast, job, 1, weight);
    for (size_t k = 0; k < forecast.limits.size() && forecast.limits[k] <= job.ceiling; ++k)
      EXPECT_LE(best.cost, forecast.limits[k] + weight * forecast.harms[k] + 1e-3);
    EXPECT_EQ(best.cost, best.limit + weight * best.harm);
  }
  EXPECT_LE(ChooseBoosted(forecast, job, 0.01, 0).harm, 0.01 + 1e-6);
  BoostedCase bounded = job;
  bounded.floor = 3 * kGiB;
  EXPECT_GE(ChooseBoosted(forecast, bounded, 1, 0).limit, 3 * kGiB);
  bounded.floor = 0;
  bounded.ceiling = kGiB;
  EXPECT_LE(ChooseBoosted(forecast, bounded, 1, 1e6 * kGiB).limit, kGiB);
  // No limit below the ceiling is safe enough: the ceiling itself.
  EXPECT_EQ(ChooseBoosted(forecast, bounded, 1e-9, kGiB).limit, kGiB);
}

TEST(BoostedDecision, ThePriceYieldsTheTargetShare) {
  for (const Resource r : kResources) {
    std::vector<BoostedCase> jobs;
    std::vector<BoostedForecast> forecasts;
    for (int i = 1; i <= 50; ++i) {
      jobs.push_back(CaseOf(ThrottlesAtLimit(r) ? 0.1 * i : 0.1 * i * kGiB));
      forecasts.emplace_back(ChancesOf(r, 3 + i % 7), jobs.back(), r);
    }
    const BoostedPanel panel(jobs, forecasts, r, ThrottlesAtLimit(r) ? kNoBound : 1);
    double dearer = kNoBound;
    for (const double share : {0.005, 0.02, 0.08}) {
      const double price = panel.PriceFor(share);
      EXPECT_NEAR(panel.HarmAt(price), share, 0.15 * share) << Name(r) << share;
      EXPECT_LT(price, dearer);
      dearer = price;
    }
  }
}

TEST(BoostedDecision, AnOomCountsOncePerJobAndALimitOncePerTask) {
  BoostedCase job = CaseOf(kGiB);
  job.tasks = 10;
  EXPECT_EQ(BoostedWeight(job, Resource::kMemory, 100), 10);
  job.price_factor = 3;
  EXPECT_EQ(BoostedWeight(job, Resource::kCpu, 100), 300);
}

}  // namespace
}  // namespace taut::brain
