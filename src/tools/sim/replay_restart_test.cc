// Tests of the replay with feedback, in which a task above its memory limit is killed and restarts.
#include <optional>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/sim/made_days.h"
#include "tools/sim/replay.h"
#include "tools/sim/replay_fixture.h"

namespace taut::tools {
namespace {

using ::testing::ElementsAre;

// A task above its limit is killed and absent for two windows. The raised limit is in force from the next window
// on.
TEST(ReplayOomRestart, KillsRestartsAndRaises) {
  MadeDays days;
  const JobId job = days.AddJob(Named("a"));
  for (int32_t w = 0; w < 12; ++w) {
    days.SetOwner(job, w, kAbsent, 100 * kMiB);
    days.PutMemory(job, w, 0, 50 * kMiB, 50 * kMiB);
    days.PutMemory(job, w, 1, (w < 3 ? 50 : 140) * kMiB, (w < 3 ? 50 : 150) * kMiB);
  }
  ReplayOptions o = Options({brain::Policy::kPeak});
  o.feedback = Feedback::kOomRestart;
  o.restart_delay_s = 600;
  const ReplayOutcome out = Lived(days, o);
  const Totals& t = out.result.lanes[0].summary.totals;
  EXPECT_EQ(t.ooms, 1U);
  EXPECT_EQ(t.task_windows, 24 - 2);
  EXPECT_EQ(t.windows, 12U);
  // The raised limit is max(1.2 x 100, 100 + 100) MiB, although the recommender has no history yet.
  EXPECT_THAT(Plain(out.changes), ElementsAre(ChangeTuple{0, 0, 100}, ChangeTuple{0, 4, 200}));
  // Without feedback, usage exceeds the limit in every window.
  o.feedback = Feedback::kNone;
  EXPECT_EQ(Lived(days, o).result.lanes[0].summary.totals.ooms, 9U);
}

// The recommender observes the usage of a killed task only up to the limit. So the known peak is the limit plus
// the raise, not the true 900 MiB.
TEST(ReplayOomRestart, UsageIsCensoredAtTheLimit) {
  MadeDays days;
  const JobId job = days.AddJob(Named("a"));
  for (int32_t w = 0; w < 5; ++w) {
    days.SetOwner(job, w, kAbsent, 1000 * kMiB);
    days.PutMemory(job, w, 0, 500 * kMiB, 500 * kMiB);
  }
  days.SetOwner(job, 5, kAbsent, 1000 * kMiB);
  days.PutMemory(job, 5, 0, 9000 * kMiB, 9000 * kMiB);
  for (int32_t w = 6; w < 20; ++w) days.PutMemory(job, w, 0, 500 * kMiB, 500 * kMiB);
  ReplayOptions o = Options({brain::Policy::kPeak});
  o.feedback = Feedback::kOomRestart;
  o.restart_delay_s = 300;
  o.settings.peak.min_history_s = 0;
  o.settings.peak.margin = 0;
  std::optional<double> known;
  ReplayHooks hooks;
  hooks.on_job_end = [&](JobId, brain::PolicyPair, Resource, const brain::Lane& lane) {
    const brain::Recommender& r = lane.recommender();
    Reason reason;
    r.Explain(reason);
    known = std::get<double>(reason.facts.at(0).value);
  };
  const ReplayOutcome out = Lived(days, o, hooks);
  // The limit in force in window 5 was the peak so far, 500 MiB, and the raise is 100 MiB.
  EXPECT_DOUBLE_EQ(*known, 600 * kMiB);
  EXPECT_EQ(out.result.lanes[0].summary.totals.ooms, 1U);
  EXPECT_EQ(out.result.lanes[0].summary.totals.task_windows, 19);
}

// The trace's own limits change at once, and a task that exceeded them runs on as it did.
TEST(ReplayOomRestart, RecordedLimitsNeitherKillNorCut) {
  MadeDays days;
  const JobId job = days.AddJob(Named("a"));
  for (int32_t w = 0; w < 12; ++w) {
    days.SetOwner(job, w, 1, (w < 6 ? 100 : 200) * kMiB);
    TaskWindow task;
    task.cpu_mean_cores = task.cpu_peak_cores = 2;
    task.memory_mean_bytes = task.memory_peak_bytes = static_cast<float>(150 * kMiB);
    days.Put(job, w, task);
  }
  ReplayOptions o =
      Options({brain::Policy::kRecorded, brain::Policy::kStatic}, {Resource::kCpu, Resource::kMemory});
  o.feedback = Feedback::kOomRestart;
  const ReplayOutcome out = Lived(days, o);
  const Totals& cpu = out.result.lanes[0].summary.totals;
  EXPECT_DOUBLE_EQ(cpu.usage_over_share(), 0.5);
  EXPECT_EQ(cpu.windows, 12U);
  const Totals& memory = out.result.lanes[1].summary.totals;
  EXPECT_EQ(memory.windows, 12U);
  EXPECT_EQ(memory.ooms, 6U);
  EXPECT_EQ(memory.changes, 1U);
  EXPECT_EQ(memory.footprint_of_owner(), 1);
  EXPECT_LT(out.result.lanes[3].summary.totals.windows, 12U) << "static's kills stop the task";
}

// A task killed under one policy's limits keeps running under another policy.
TEST(ReplayOomRestart, WorldsAreApart) {
  MadeDays days;
  const JobId job = days.AddJob(Named("a"));
  for (int32_t w = 0; w < 30; ++w) {
    days.SetOwner(job, w, kAbsent, 1000 * kMiB);
    days.PutMemory(job, w, 0, 300 * kMiB, (w % 7 == 6 ? 900 : 300) * kMiB);
  }
  ReplayOptions o = Options({brain::Policy::kStatic, brain::Policy::kVpa});
  o.feedback = Feedback::kOomRestart;
  const ReplayOutcome out = Lived(days, o);
  EXPECT_EQ(out.result.lanes[0].summary.totals.ooms, 0U);
  EXPECT_EQ(out.result.lanes[0].summary.totals.task_windows, 30);
  EXPECT_GT(out.result.lanes[1].summary.totals.ooms, 0U);
  EXPECT_LT(out.result.lanes[1].summary.totals.task_windows, 30);
}

}  // namespace
}  // namespace taut::tools
