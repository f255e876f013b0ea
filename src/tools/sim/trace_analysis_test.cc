#include "tools/sim/trace_analysis.h"

#include "common/base/byte_units.h"
#include "tools/sim/replay_fixture.h"

namespace taut::tools {
namespace {

// Adds two tasks to the windows [first, last). Each uses 1 core and 1 GiB, with limits of 4 cores and 2 GiB.
void Put(MadeDays& days, JobId job, int32_t first, int32_t last) {
  for (int32_t window = first; window < last; ++window) {
    for (uint32_t task = 0; task < 2; ++task) {
      TaskWindow t;
      t.task = task;
      t.cpu_mean_cores = 1;
      t.memory_mean_bytes = static_cast<float>(kGiB);
      days.Put(job, window, t);
    }
    days.SetOwner(job, window, 4, 2 * kGiB);
  }
}

TEST(TraceAnalysisTest, SumsUsageByTierAndHour) {
  MadeDays days;
  JobInfo production = Named("production"), batch = Named("batch");
  production.priority = 200;
  batch.priority = 110;
  const JobId first = days.AddJob(production), second = days.AddJob(batch);
  days.AddJob(Named("without usage"));
  Put(days, first, 0, 3 * kWindowsPerDay);
  // The job has usage in half of one hour of the second day.
  Put(days, second, kWindowsPerDay + 5 * kWindowsPerHour, kWindowsPerDay + 5 * kWindowsPerHour + 6);
  days.Finish();
  const absl::StatusOr<TraceAnalysis> a = AnalyseTrace(days);
  ASSERT_TRUE(a.ok()) << a.status();
  EXPECT_EQ(a->jobs, 2U);
  EXPECT_EQ(a->hours.size(), 72U);
  EXPECT_TRUE(a->has_priorities);
  const auto tier = [](TraceTier t) { return static_cast<size_t>(t); };
  const AnalysisHour& hour = a->hours[29];
  EXPECT_EQ(hour.start_s, 29 * 3600);
  EXPECT_EQ(hour.new_jobs, 1U);
  EXPECT_DOUBLE_EQ(hour.of[0][tier(TraceTier::kProduction)].usage, 2);
  EXPECT_DOUBLE_EQ(hour.of[0][tier(TraceTier::kProduction)].limit, 8);
  EXPECT_DOUBLE_EQ(hour.of[0][tier(TraceTier::kBatch)].usage, 1) << "of half an hour";
  const TierSummary& of_production = a->tiers[1][tier(TraceTier::kProduction)];
  EXPECT_EQ(of_production.jobs, 1U);
  EXPECT_NEAR(of_production.usage, 2 * kGiB, 1);
  EXPECT_NEAR(of_production.slack(), 0.5, 1e-9);
  EXPECT_EQ(a->tiers[1][tier(TraceTier::kFree)].slack(), -1) << "not known is not 0";
  EXPECT_NEAR(a->sizes[0].max, 144, 1e-9) << "2 cores for 72 h";
  EXPECT_NEAR(a->sizes[0].total, 145, 1e-9);
  EXPECT_NEAR(a->sizes[1].total, 145, 1e-3);
  EXPECT_NEAR(a->correlation, 1, 1e-9);
  EXPECT_EQ(a->arrivals.count(), 48U) << "the hours from the second day on";
  EXPECT_NEAR(a->arrivals.mean(), 1.0 / 48, 1e-12);
}

TEST(TraceAnalysisTest, WithoutUsageOrStopped) {
  MadeDays none;
  none.AddJob(Named("idle"));
  none.Finish();
  EXPECT_TRUE(absl::IsFailedPrecondition(AnalyseTrace(none).status()));
  MadeDays days;
  Put(days, days.AddJob(Named("a")), 0, 12);
  days.Finish();
  AnalysisHooks hooks;
  hooks.should_stop = [] { return true; };
  EXPECT_TRUE(absl::IsCancelled(AnalyseTrace(days, hooks).status()));
  const absl::StatusOr<TraceAnalysis> a = AnalyseTrace(days);
  ASSERT_TRUE(a.ok());
  EXPECT_EQ(a->arrivals.count(), 0U) << "less than a day";
  EXPECT_FALSE(a->has_priorities);
}

}  // namespace
}  // namespace taut::tools
