// Tests of the effects of a job's class and of its tolerance of OOM kills on its limits: the class affects only
// CPU, the tolerance only memory. policies_test.cc tests the ensemble, whose limits change in larger steps.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "brain/fleet/policies.h"
#include "brain/recommend/made_signal.h"
#include "brain/rollout/job_policy.h"
#include "common/base/byte_units.h"
#include "common/base/random.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using Sums = std::array<double, 3>;

// Steps groups of three jobs with equal usage, one job per policy, in one fleet. Returns the sum of each
// policy's limits after the first week.
Sums LimitsOf(Policy recommender, Resource resource, const std::array<JobPolicy, 3>& policies) {
  constexpr int kTriples = 8, kDays = 21, kStep = 3;
  constexpr double kBurst = 0.003;
  VerticalSettings settings;
  settings.analogs.min_rows = 20;
  settings.analogs.min_days = 3;
  // With these target shares, the limits follow from the price and not from the bounds for a single job.
  settings.analogs.cpu_oom_days = 0.1;
  settings.work_function.memory_above = 0.005;
  FleetModels models(settings);
  std::vector<std::unique_ptr<Recommender>> jobs;
  for (int i = 0; i < kTriples; ++i) {
    for (const JobPolicy& policy : policies) {
      jobs.push_back(NewRecommender(recommender, resource, JobInfo(), SettingsFor(policy, settings), models));
    }
  }
  Rng rng(7);
  Sums sums{};
  const double unit = resource == Resource::kCpu ? 1 : 300 * kMiB;
  for (int32_t day = 0; day < kDays; ++day) {
    for (const auto& job : jobs) job->StartDay(day);
    for (int32_t w = day * kWindowsPerDay; w < (day + 1) * kWindowsPerDay; w += kStep) {
      for (size_t triple = 0; triple < kTriples; ++triple) {
        const double burst = rng.Uniform() < kBurst ? rng.Uniform(1, 1.9) : 1;
        const double usage = unit * static_cast<double>(triple + 1) * std::exp(0.1 * rng.Normal()) * burst;
        for (size_t i = 0; i < policies.size(); ++i) {
          Recommender& job = *jobs[triple * policies.size() + i];
          job.Observe(MadeSignal(resource, w, usage, 5 * unit * static_cast<double>(triple + 1)));
          const std::optional<double> limit = job.Recommend(WindowId{w + 1});
          if (day >= 7 && limit.has_value()) sums[i] += *limit;
        }
      }
    }
    FleetRows rows;
    for (const auto& job : jobs) job->EndDay(day, rows);
    models.CloseDay(resource, day, std::move(rows));
  }
  return sums;
}

std::array<JobPolicy, 3> Classes() {
  std::array<JobPolicy, 3> out;
  out[0].job_class = JobClass::kBatch;
  out[1].job_class = JobClass::kServingTolerant;
  out[2].job_class = JobClass::kServing;
  return out;
}
std::array<JobPolicy, 3> Tolerances() {
  std::array<JobPolicy, 3> out;
  out[0].oom_tolerance = OomTolerance::kIntermediate;
  out[1].oom_tolerance = OomTolerance::kLow;
  out[2].oom_tolerance = OomTolerance::kMinimal;
  return out;
}

class ClassOrder : public testing::TestWithParam<Policy> {};

TEST_P(ClassOrder, CpuFollowsTheLatencySensitivity) {
  const Sums by_class = LimitsOf(GetParam(), Resource::kCpu, Classes());
  EXPECT_LT(by_class[0], 0.99 * by_class[1]);
  EXPECT_LT(by_class[1], 0.99 * by_class[2]);
  const Sums by_tolerance = LimitsOf(GetParam(), Resource::kCpu, Tolerances());
  EXPECT_EQ(by_tolerance[0], by_tolerance[2]);
}

TEST_P(ClassOrder, MemoryFollowsTheToleranceOfOomKills) {
  const Sums by_tolerance = LimitsOf(GetParam(), Resource::kMemory, Tolerances());
  EXPECT_LT(by_tolerance[0], 0.99 * by_tolerance[1]);
  EXPECT_LT(by_tolerance[1], 0.99 * by_tolerance[2]);
  const Sums by_class = LimitsOf(GetParam(), Resource::kMemory, Classes());
  EXPECT_EQ(by_class[0], by_class[2]);
}

INSTANTIATE_TEST_SUITE_P(Recommenders, ClassOrder,
                         testing::Values(Policy::kMovingWindow, Policy::kAnalogs, Policy::kWorkFunction),
                         [](const auto& tested) { return std::string(Name(tested.param)); });

}  // namespace
}  // namespace taut::brain
