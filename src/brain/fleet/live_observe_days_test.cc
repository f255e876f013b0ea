// Tests of the counts of days by window, and of the decisions at the time of a kill.
#include <optional>
#include <vector>

#include "brain/fleet/live_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using What = DayRecord::What;

// Returns TwoTasks with two changes: the second task uses 3 cores, and the first task's mean memory is half a
// GiB.
ClosedWindow TwoBusyTasks(int32_t index, double memory_limit) {
  ClosedWindow closed = TwoTasks(index, 4, static_cast<float>(memory_limit));
  const auto gib = static_cast<float>(kGiB);
  closed.tasks = {{0, 1, 1, gib / 2, gib}, {1, 3, 3, gib, gib}};
  closed.cpu_buckets = {{Grid::Cpu().BucketOf(1), 300}, {Grid::Cpu().BucketOf(3), 300}};
  closed.jobs[0].window.num_buckets = 2;
  return closed;
}

TEST(LiveObserveDays, ADayAtTheLimitIsOneWithinFivePercentOfIt) {
  PassOutput out;
  for (const auto& [times, at] : {std::pair{1.0, 1U}, std::pair{1.05, 1U}, std::pair{1.06, 0U}}) {
    LiveFleet fleet(Settings(Policy::kMovingWindow, Mode::kObserve));
    AddJobs(fleet, 1);
    Step(fleet, TwoBusyTasks(0, times * kGiB), out);
    const LiveJob& job = fleet.job(JobId{0});
    EXPECT_EQ(job.of(Resource::kMemory).days.Count(What::kAtLimit, 0, 1), at) << times;
    EXPECT_EQ(job.of(Resource::kCpu).days.Count(What::kAtLimit, 0, 1), 0U);
    EXPECT_EQ(job.of(Resource::kMemory).days.Count(What::kRecommended, 0, 1), 0U) << "nothing is yet";
  }
}

TEST(LiveObserveDays, TheSumsOfAWindowCountEachTask) {
  LiveSettings settings = Settings(Policy::kMovingWindow, Mode::kAuto);
  settings.vertical.moving_window.min_history_s = 0;
  LiveFleet fleet(settings);
  AddJobs(fleet, 1);
  PassOutput out;
  Step(fleet, TwoBusyTasks(0, 8 * kGiB), out);
  const FleetAmounts& cpu = out.point.amounts[0];
  const FleetAmounts& memory = out.point.amounts[1];
  const LiveJob& job = fleet.job(JobId{0});
  EXPECT_EQ(job.of(Resource::kCpu).usage_mean, 2);
  EXPECT_EQ(job.of(Resource::kCpu).usage_peak, 3);
  EXPECT_EQ(cpu.usage, 4);
  EXPECT_EQ(cpu.owner_limit, 8);
  EXPECT_EQ(cpu.jobs, 1U);
  EXPECT_EQ(cpu.jobs_limited, 1U);
  EXPECT_EQ(memory.usage, 1.5 * kGiB);
  EXPECT_EQ(memory.owner_limit, 16 * kGiB);
  const double limit = *job.of(Resource::kMemory).gate.in_force;
  EXPECT_DOUBLE_EQ(memory.in_force, 2 * limit);
  EXPECT_DOUBLE_EQ(memory.would_be, 2 * *job.of(Resource::kMemory).lane.recommended());
  EXPECT_EQ(out.point.jobs, 1U);
  EXPECT_EQ(out.point.tasks, 2U);
  EXPECT_EQ(out.point.changes, 2U) << "both limits";
}

struct Killed {
  std::optional<double> limit;  // limit to which the kill is attributed
  std::vector<Decision> decisions;
  uint32_t kills = 0;
};

// Returns the results of a kill `late_s` seconds after the end of the last window; negative: before the end.
Killed KilledAt(Enforcement enforcement, int64_t late_s, When when = When::kNow) {
  LiveSettings settings = Settings(Policy::kMovingWindow, Mode::kAuto);
  settings.vertical.moving_window.min_history_s = 0;
  settings.enforcement = enforcement;
  LiveFleet fleet(settings);
  AddJobs(fleet, 1);
  PassOutput out;
  for (int32_t w = 0; w < 3; ++w) Step(fleet, TwoBusyTasks(w, 8 * kGiB), out);
  EXPECT_LT(fleet.job(JobId{0}).of(Resource::kMemory).gate.in_force, 5 * kGiB);
  out.Clear();
  OomRecord oom{JobId{0}, 0, WindowId{3}.start_s() + late_s, 3, std::nullopt};
  fleet.kills.TakeOom(oom, out, when);
  return {oom.limit, out.decisions, out.point.oom_kills};
}

TEST(LiveObserveDays, AKillIsOneAtTheLimitThatTheTasksHave) {
  EXPECT_LT(KilledAt(Enforcement::kAlways, 10).limit, 5 * kGiB);
  EXPECT_EQ(KilledAt(Enforcement::kNever, 10).limit, 8 * kGiB) << "the owner's";
  EXPECT_EQ(KilledAt(Enforcement::kByAgents, 10).limit, 8 * kGiB) << "no agent applies limits";
  OomRecord unknown{JobId{7}, 0, 5, 1, std::nullopt};
  LiveFleet fleet(Settings(Policy::kMovingWindow, Mode::kAuto));
  PassOutput out;
  fleet.kills.TakeOom(unknown, out);
  EXPECT_EQ(out.point.oom_kills, 0U);
}

TEST(LiveObserveDays, AKillIsDecidedAfterTheDecisionsBeforeIt) {
  const int64_t end_s = WindowId{3}.start_s();
  const Killed now = KilledAt(Enforcement::kAlways, 10);
  ASSERT_EQ(now.decisions.size(), 1U);
  EXPECT_EQ(now.decisions[0].kind, DecisionKind::kOomRaise);
  EXPECT_EQ(now.decisions[0].time_s, end_s + 10);
  EXPECT_GE(now.decisions[0].after, 1.19 * *now.limit);
  EXPECT_EQ(now.kills, 3U);
  const Killed late = KilledAt(Enforcement::kAlways, -200);
  ASSERT_EQ(late.decisions.size(), 1U);
  EXPECT_EQ(late.decisions[0].time_s, end_s + 1) << "reported late";
  const Killed past = KilledAt(Enforcement::kAlways, 10, When::kPast);
  EXPECT_TRUE(past.decisions.empty());
  EXPECT_EQ(past.kills, 3U);
}

}  // namespace
}  // namespace taut::brain
