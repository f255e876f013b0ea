// Tests how OOM kills in a trace affect the recommenders and the scores.
#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/sim/made_days.h"
#include "tools/sim/replay.h"
#include "tools/sim/replay_fixture.h"

namespace taut::tools {
namespace {

using ::testing::ElementsAre;

// Adds a job with one task that uses 50 of 100 MiB. If `recorded`, the trace contains a kill of the task in window
// 5, without a sample of the peak.
JobId PutKilledTask(MadeDays& days, bool recorded) {
  const JobId job = days.AddJob(Named("a"));
  for (int32_t w = 0; w < 12; ++w) {
    days.SetOwner(job, w, kAbsent, 100 * kMiB);
    days.PutMemory(job, w, 0, 50 * kMiB, 50 * kMiB);
  }
  if (recorded) days.PutKills(job, 5, 0, 2, 100 * kMiB);
  return job;
}

TEST(RecordedKills, ReachTheRecommenderAndAreCounted) {
  for (const bool recorded : {false, true}) {
    MadeDays days;
    PutKilledTask(days, recorded);
    ReplayOptions o = Options({brain::Policy::kPeak});
    o.settings.peak.min_history_s = 0;
    o.settings.peak.margin = 0;
    o.settings.bounds_by[kMemoryIndex].granularity = 0;
    const ReplayOutcome out = Lived(days, o);
    const Totals& t = out.result.lanes[0].summary.totals;
    if (recorded) {
      // The limit after the kill is max(1.2 x 100, 100 + 100) MiB. The limit in force was 50 MiB, less than the
      // 100 MiB at which the task was killed.
      EXPECT_THAT(Plain(out.changes),
                  ElementsAre(ChangeTuple{0, 0, 100}, ChangeTuple{0, 1, 50}, ChangeTuple{0, 6, 200}));
      EXPECT_EQ(t.ooms, 1U);
      EXPECT_EQ(t.windows_over, 1U);
    } else {
      EXPECT_THAT(Plain(out.changes), ElementsAre(ChangeTuple{0, 0, 100}, ChangeTuple{0, 1, 50}));
      EXPECT_EQ(t.ooms, 0U);
    }
    EXPECT_EQ(out.result.recorded.kills, recorded ? 2U : 0U);
    EXPECT_EQ(out.result.recorded.killed_windows, recorded ? 1U : 0U);
    EXPECT_EQ(out.result.recorded.job_days, recorded ? 1U : 0U);
    EXPECT_EQ(out.result.recorded.task_windows, 12U);
    EXPECT_EQ(t.usage_over_seconds, 0) << "how much was above is not known";
  }
}

// A kill shows that the limit at the kill and every lower limit were too low. It is no evidence about higher
// limits.
TEST(RecordedKills, AreOverLimitsUpToTheOneThatKilled) {
  const struct {
    double killed_at;
    uint64_t ooms;
  } cases[] = {{99, 0}, {100, 1}, {101, 1}};
  for (const auto& c : cases) {
    MadeDays days;
    const JobId job = days.AddJob(Named("a"));
    for (int32_t w = 0; w < 3; ++w) {
      days.SetOwner(job, w, kAbsent, 100 * kMiB);
      for (uint32_t task : {0U, 1U}) days.PutMemory(job, w, task, 50 * kMiB, 50 * kMiB);
    }
    days.PutKills(job, 1, 1, 1, c.killed_at * kMiB);
    const ReplayOutcome out = Lived(days, Options({brain::Policy::kStatic}));
    EXPECT_EQ(out.result.lanes[0].summary.totals.ooms, c.ooms) << c.killed_at;
  }
}

TEST(RecordedKills, AreOfMemoryAndOfScoredDays) {
  MadeDays days;
  const JobId job = days.AddJob(Named("a"));
  for (int32_t w = 0; w < 2 * kWindowsPerDay; ++w) {
    TaskWindow t{.task = 0, .cpu_mean_cores = 1, .cpu_peak_cores = 1};
    t.memory_mean_bytes = t.memory_peak_bytes = 50 * kMiB;
    days.SetOwner(job, w, 2, 100 * kMiB);
    days.Put(job, w, t);
  }
  days.PutKills(job, 7, 0, 1, 100 * kMiB);
  days.PutKills(job, kWindowsPerDay + 7, 0, 4, 100 * kMiB);
  ReplayOptions o = Options({brain::Policy::kStatic}, {Resource::kCpu, Resource::kMemory});
  o.warmup_s = kDaySeconds;
  const ReplayOutcome out = Lived(days, o);
  EXPECT_EQ(out.result.recorded.kills, 4U);
  EXPECT_EQ(out.result.recorded.job_days, 1U);
  EXPECT_EQ(out.result.lanes[0].summary.totals.ooms, 0U) << "CPU";
  EXPECT_EQ(out.result.lanes[1].summary.totals.ooms, 1U);
}

// The kill is in a window without memory usage, or after the last window of the day with memory usage.
TEST(RecordedKills, WithoutUsageReachTheRecommenderToo) {
  for (const int32_t killed : {3, 6}) {
    MadeDays days;
    const JobId job = days.AddJob(Named("a"));
    for (int32_t w = 0; w < 10; ++w) {
      days.SetOwner(job, w, kAbsent, 100 * kMiB);
      if (w != 3 && w < 6) days.PutMemory(job, w, 0, 50 * kMiB, 50 * kMiB);
      if (w == 3 || w >= 6) days.Put(job, w, {.task = 0, .cpu_mean_cores = 1, .cpu_peak_cores = 1});
    }
    days.PutKills(job, killed, 0, 1, 100 * kMiB);
    std::optional<double> last;
    ReplayHooks hooks;
    hooks.on_job_end = [&](JobId, brain::PolicyPair, Resource, const brain::Lane& lane) {
      last = lane.recommended();
    };
    const ReplayOutcome out = Lived(days, Options({brain::Policy::kPeak}), hooks);
    ASSERT_TRUE(last.has_value()) << killed;
    EXPECT_GE(*last, 200 * kMiB) << killed;
    EXPECT_EQ(out.result.lanes[0].summary.totals.ooms, 0U) << "no usage was measured in that window";
  }
}

// A kill without a known limit or usage is counted, but does not affect limits.
TEST(RecordedKills, OfUnknownHeightAreOnlyCounted) {
  MadeDays days;
  const JobId job = PutKilledTask(days, false);
  days.PutKills(job, 5, 0, 1, kAbsent);
  const ReplayOutcome out = Lived(days, Options({brain::Policy::kStatic}));
  EXPECT_EQ(out.result.recorded.kills, 1U);
  EXPECT_EQ(out.result.lanes[0].summary.totals.ooms, 0U);
}

// With feedback, a recorded kill also occurs at the replay's limit if this limit is not higher than the recorded
// limit. The task survives at a higher limit.
TEST(RecordedKills, WithFeedbackKillUpToTheirLimit) {
  const struct {
    double killed_at;
    uint64_t ooms;
    double task_windows;
  } cases[] = {{150, 1, 10}, {60, 0, 12}};
  for (const auto& c : cases) {
    MadeDays days;
    const JobId job = PutKilledTask(days, false);
    days.PutKills(job, 5, 0, 1, c.killed_at * kMiB);
    ReplayOptions o = Options({brain::Policy::kPeak});
    o.feedback = Feedback::kOomRestart;
    o.restart_delay_s = 600;
    const ReplayOutcome out = Lived(days, o);
    const Totals& t = out.result.lanes[0].summary.totals;
    EXPECT_EQ(t.ooms, c.ooms) << c.killed_at;
    EXPECT_EQ(t.task_windows, c.task_windows) << c.killed_at;
    if (c.ooms > 0) {
      // The replay's limit in force at the kill was 100 MiB.
      EXPECT_THAT(Plain(out.changes), ElementsAre(ChangeTuple{0, 0, 100}, ChangeTuple{0, 8, 200}));
    } else {
      EXPECT_THAT(Plain(out.changes), ElementsAre(ChangeTuple{0, 0, 100}));
    }
  }
}

// Like tautd, the replay raises the limit at once, regardless of the change_period.
TEST(RecordedKills, RaiseAtOnceWhereLimitsAreDecided) {
  MadeDays days;
  PutKilledTask(days, true);
  ReplayOptions o = Options({brain::Policy::kPeak});
  o.settings.peak.min_history_s = 0;
  o.settings.peak.margin = 0;
  o.settings.bounds_by[kMemoryIndex].granularity = 0;
  o.managed.emplace();
  o.managed->mode = Mode::kAuto;
  o.managed->change_period_s = brain::kDay;
  const ReplayOutcome out = Lived(days, o);
  EXPECT_THAT(Plain(out.changes),
              ElementsAre(ChangeTuple{0, 0, 100}, ChangeTuple{0, 1, 50}, ChangeTuple{0, 6, 200}));
}

}  // namespace
}  // namespace taut::tools
