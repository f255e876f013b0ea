// Tests of OOM kills in a trace: their effect on the recommenders and on the scores.
#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/sim/made_days.h"
#include "tools/sim/replay.h"
#include "tools/sim/replay_fixture.h"

namespace taut::tools {
namespace {

using ::testing::ElementsAre;

// Adds a job of one task that uses 50 of 100 MiB. If `recorded`, the task is killed in window 5, between two
// samples.
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
      // The limit after the kill is max(1.2 x 100, 100 + 100) MiB. The limit of 50 MiB in force was below the
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

// A kill means that the limit at which the task was killed, and every lower limit, was too low. It says
// nothing about a higher limit.
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

// The kill is in a window without memory usage, or after the day's last window with memory usage.
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

// A kill without a limit or usage has no effect on limits, but is counted.
TEST(RecordedKills, OfUnknownHeightAreOnlyCounted) {
  MadeDays days;
  const JobId job = PutKilledTask(days, false);
  days.PutKills(job, 5, 0, 1, kAbsent);
  const ReplayOutcome out = Lived(days, Options({brain::Policy::kStatic}));
  EXPECT_EQ(out.result.recorded.kills, 1U);
  EXPECT_EQ(out.result.lanes[0].summary.totals.ooms, 0U);
}

// With feedback, a kill at the recorded limit or a lower limit occurs in the replay and stops the task. With
// a higher limit the task survives.
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
      // The task was killed at the 100 MiB that the replay had in force.
      EXPECT_THAT(Plain(out.changes), ElementsAre(ChangeTuple{0, 0, 100}, ChangeTuple{0, 8, 200}));
    } else {
      EXPECT_THAT(Plain(out.changes), ElementsAre(ChangeTuple{0, 0, 100}));
    }
  }
}

// The replay raises the limit at once, like the daemon, for any change_period.
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
