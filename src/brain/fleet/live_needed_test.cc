// Tests of memory.signal = probe with tasks that use 3 GiB and need 1 GiB according to their agent's probe.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "brain/fleet/live_fixture.h"

namespace taut::brain {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Task {
  double usage = 3 * kGiB;
  std::optional<double> needed = 1 * kGiB;
};

ClosedWindow WindowOf(int32_t index, const std::vector<Task>& tasks) {
  ClosedWindow closed;
  closed.window = WindowId{index};
  JobWindow w{.window = closed.window, .num_tasks = static_cast<uint32_t>(tasks.size())};
  w.memory_limit_bytes = static_cast<float>(8 * kGiB);
  for (const Task& t : tasks) {
    TaskWindow& task = closed.tasks.emplace_back();
    task.task = static_cast<uint32_t>(closed.tasks.size() - 1);
    task.memory_mean_bytes = static_cast<float>(0.9 * t.usage);
    task.memory_peak_bytes = static_cast<float>(t.usage);
    if (t.needed.has_value()) task.memory_needed_bytes = static_cast<float>(*t.needed);
  }
  closed.jobs.push_back({JobId{0}, w});
  return closed;
}

LiveSettings Quick(Policy policy) {
  LiveSettings settings = Settings(policy, Mode::kAuto);
  settings.vertical.moving_window.min_history_s = 3600;
  settings.vertical.peak.min_history_s = 3600;
  settings.vertical.peak.days = 1;
  return settings;
}

struct Probed {
  explicit Probed(std::string_view signal = "probe", Policy policy = Policy::kPeak) : fleet(Quick(policy)) {
    AddJobs(fleet, 1);
    PassOutput out;
    EXPECT_TRUE(Set(fleet, JobId{0}, "memory.signal", signal, 0, out).ok());
    fleet.history.Retrain(JobId{0}, {}, {}, {});  // the store has no history yet
  }
  void Pass(const std::vector<Task>& tasks) {
    const ClosedWindow closed = WindowOf(window++, tasks);
    AppendWindow(closed, 0, day);
    PassOutput out;
    Step(fleet, closed, out);
    changes += out.decisions.size();
  }
  void Run(int windows, const std::vector<Task>& tasks) {
    for (int i = 0; i < windows; ++i) Pass(tasks);
  }
  const LiveLane& lane() const { return fleet.job(JobId{0}).of(Resource::kMemory); }
  double limit() const { return lane().gate.in_force.value_or(-1); }
  std::string Why() const { return fleet.risk.Explain(JobId{0}, Resource::kMemory).sentence; }

  LiveFleet fleet;
  JobDay day;
  int32_t window = 0;
  size_t changes = 0;
};

TEST(LiveNeeded, TheLimitFollowsTheNeedOnlyWhereTheSettingSaysSo) {
  Probed usage("usage"), probe;
  usage.Run(60, {{}});
  probe.Run(60, {{}});
  EXPECT_NEAR(usage.limit(), 1.15 * 3 * kGiB, 0.1 * kGiB);
  EXPECT_NEAR(probe.limit(), 1.15 * 1.1 * kGiB, 0.1 * kGiB);
  EXPECT_EQ(probe.lane().usage_peak, static_cast<float>(3 * kGiB)) << "what is shown as used is usage";
  EXPECT_NEAR(probe.lane().usage_mean, 2.7 * kGiB, kMiB);
  EXPECT_THAT(probe.Why(), HasSubstr("Limit from probed need 1.10 GiB (usage 3.00 GiB)"));
  EXPECT_THAT(usage.Why(), Not(HasSubstr("probed")));
}

TEST(LiveNeeded, AWindowOrTaskWithoutANeedCountsWithItsUsage) {
  Probed never;
  never.Run(60, {{.needed = std::nullopt}});
  EXPECT_NEAR(never.limit(), 1.15 * 3 * kGiB, 0.1 * kGiB);
  EXPECT_THAT(never.Why(), HasSubstr("counted with its usage"));
  Probed one;  // one of two tasks is probed
  one.Run(60, {{}, {.needed = std::nullopt}});
  EXPECT_NEAR(one.limit(), 1.15 * 3 * kGiB, 0.1 * kGiB);
  Probed small;  // the usage of the second task is below the need of the first task
  small.Run(60, {{}, {.usage = 0.5 * kGiB, .needed = std::nullopt}});
  EXPECT_NEAR(small.limit(), 1.15 * 1.1 * kGiB, 0.1 * kGiB);
}

// Windows without a known need raise the limit once, and the limit does not oscillate.
TEST(LiveNeeded, ProbesThatComeAndGoDoNotMoveTheLimitToAndFro) {
  Probed p;
  p.Run(40, {{}});
  const double low = p.limit();
  p.changes = 0;
  for (int i = 0; i < 200; ++i) p.Pass({{.needed = i % 3 == 0 ? std::nullopt : std::optional(1.0 * kGiB)}});
  EXPECT_GT(p.limit(), 2 * low);
  EXPECT_LE(p.changes, 2U);
}

TEST(LiveNeeded, AGrowingNeedAndAKillRaiseAtOnce) {
  Probed grows;
  grows.Run(40, {{}});
  const double before = grows.limit();
  grows.Pass({{.needed = 2 * kGiB}});
  EXPECT_NEAR(grows.limit(), 1.15 * 2.2 * kGiB, 0.1 * kGiB);
  Probed killed;
  killed.Run(40, {{}});
  ASSERT_EQ(killed.limit(), before);
  PassOutput out;
  OomRecord oom{
      .job = JobId{0}, .task = 0, .time_s = int64_t{40} * kWindowSeconds - 10, .kills = 1, .limit = before};
  killed.fleet.kills.TakeOom(oom, out);
  EXPECT_GE(killed.limit(), 1.19 * before);
  killed.Run(20, {{}});
  EXPECT_GE(killed.limit(), 1.19 * before) << "whatever the probe says";
}

// The setting selects another signal, so the recommender learns again from the stored windows, which contain
// both signals.
TEST(LiveNeeded, ChangingTheSettingLearnsAnewOfTheStoredWindows) {
  Probed p("usage");
  p.Run(100, {{}});
  PassOutput out;
  ASSERT_TRUE(Set(p.fleet, JobId{0}, "memory.signal", "probe", 100 * kWindowSeconds, out).ok());
  EXPECT_EQ(WantedOf(p.fleet), std::vector<JobId>{JobId{0}});
  p.fleet.history.Retrain(JobId{0}, {&p.day, 1}, {}, {});
  Probed always;
  always.Run(100, {{}});
  EXPECT_EQ(p.lane().lane.recommended(), always.lane().lane.recommended());
}

TEST(LiveNeeded, ASettingKeepsTheNeedOfTheLastWindow) {
  Probed p;
  p.Run(60, {{}});
  const float need = p.lane().need_peak;
  ASSERT_GT(need, 0);
  PassOutput out;
  ASSERT_TRUE(Set(p.fleet, JobId{0}, "min_change", "10%", 60 * kWindowSeconds, out).ok());
  EXPECT_EQ(p.lane().need_peak, need);
  EXPECT_THAT(p.Why(), HasSubstr("Limit from probed need"));
}

// A state that was learnt from one signal must not be loaded for the other signal.
TEST(LiveNeeded, ACheckpointIsOfOneSignal) {
  Probed p;
  p.Run(60, {{}});
  std::string state;
  ByteWriter out(&state);
  SaveLiveJob(p.fleet.job(JobId{0}), out);
  for (const MemorySignal signal : {MemorySignal::kProbe, MemorySignal::kUsage}) {
    Probed fresh(kMemorySignalNames[static_cast<size_t>(signal)]);
    fresh.Pass({{}});
    LiveJob copy;
    copy.record = fresh.fleet.job(JobId{0}).record;
    auto policy = std::make_shared<JobPolicy>(*fresh.fleet.job(JobId{0}).policy);
    copy.policy = policy;
    FleetModels models(Quick(Policy::kPeak).vertical);
    const VerticalSettings vertical = SettingsFor(*policy, Quick(Policy::kPeak).vertical);
    for (const Resource r : kResources)
      copy.of(r).lane = Lane(NewRecommender(Policy::kPeak, r, JobInfo(), vertical, models));
    ByteReader in(state);
    ASSERT_TRUE(LoadLiveJob(in, copy).ok());
    EXPECT_EQ(copy.of(Resource::kMemory).needs_history, signal == MemorySignal::kUsage);
    EXPECT_FALSE(copy.of(Resource::kCpu).needs_history);
  }
}

}  // namespace
}  // namespace taut::brain
