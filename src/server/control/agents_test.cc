// Tests reports of agents to the control plane (tasks, windows, kills), and the terms that the control plane
// returns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "server/control/control_fixture.h"

namespace taut::server {
namespace {

constexpr int64_t kStart = ControlCell::kStart;  // start of a window
constexpr NamedTask kWeb{"shop/web", "web-1", {}}, kWeb2{"shop/web", "web-2", {}};

Timestamp At(int64_t second) { return Timestamp::FromSeconds(kStart + second); }
WindowId Window(int i) { return WindowId{static_cast<int32_t>(kStart / kWindowSeconds) + i}; }

ReportedWindow Usage(int window, float memory = 1e8F) {
  ReportedWindow w;
  w.window = Window(window);
  w.figures.cpu_mean_cores = 0.5F;
  w.figures.cpu_peak_cores = 0.6F;
  w.figures.memory_mean_bytes = w.figures.memory_peak_bytes = memory;
  w.cpu_buckets = {{Grid::Cpu().BucketOf(0.5), 300}};
  w.cpu_limit_cores = 4;
  w.memory_limit_bytes = 3e8F;
  return w;
}

// Reports the windows [from, to) of two tasks; each window closes in time.
void Live(ControlCell& cell, int from, int to) {
  for (int i = from; i < to; ++i) {
    const Timestamp now = At((i + 1) * 300);
    ASSERT_TRUE(cell.control().agents().TakeWindow(kWeb, Usage(i), now).ok());
    ASSERT_TRUE(cell.control().agents().TakeWindow(kWeb2, Usage(i), now).ok());
    ASSERT_TRUE(cell.control().Tick(At((i + 1) * 300 + 121)).ok());
  }
}

std::vector<OomRecord> Ooms(ControlCell& cell) { return *cell.store().Ooms(std::nullopt, INT64_MIN, 100); }

TEST(ControlAgents, AnnouncedTasksAreOfOneJob) {
  ControlCell cell;
  const std::optional<TaskRef> a = cell.control().agents().Announce(kWeb, At(0));
  const std::optional<TaskRef> b = cell.control().agents().Announce(kWeb2, At(0));
  const std::optional<TaskRef> again = cell.control().agents().Announce(kWeb, At(1));
  ASSERT_TRUE(a.has_value() && b.has_value() && again.has_value());
  EXPECT_EQ(a->job, b->job);
  EXPECT_NE(a->task, b->task);
  EXPECT_EQ(a->task, again->task);
  EXPECT_FALSE(cell.control().agents().Standing(*a, "").has_value()) << "the fleet has not met it yet";
  ASSERT_TRUE(cell.control().Tick(At(1)).ok());
  const std::optional<StandingTerms> standing = cell.control().agents().Standing(*a, "");
  ASSERT_TRUE(standing.has_value());
  EXPECT_EQ(standing->mode, Mode::kAuto);
  EXPECT_FALSE(standing->in_force[0].has_value());
  EXPECT_EQ(standing->decided_s[0], 0);
  EXPECT_EQ(standing->startup_grace_s, 300);
  EXPECT_FALSE(cell.control().agents().Announce({"shop/web", "", {}}, At(0)).has_value());
  EXPECT_FALSE(cell.control().agents().Standing({JobId{77}, 0}, "").has_value());
}

TEST(ControlAgents, TasksAreFoundByTheirNames) {
  ControlCell cell;
  const std::optional<TaskRef> web = cell.control().agents().Announce(kWeb, At(0));
  const std::optional<TaskRef> web2 = cell.control().agents().Announce(kWeb2, At(0));
  ASSERT_TRUE(cell.control().Tick(At(1)).ok());
  std::vector<PlacedTask> placed(600);  // enough tasks for several pieces
  for (PlacedTask& task : placed) task = {std::string(kWeb2.job), std::string(kWeb2.task)};
  placed[1] = {std::string(kWeb.job), std::string(kWeb.task)};
  placed[2] = {std::string(kWeb.job), "another"};
  placed[3] = {"another", std::string(kWeb.task)};
  placed[3].number = TaskRef{JobId{5}, 5};  // number from an earlier call
  std::vector<PlacedTask*> tasks;
  for (PlacedTask& task : placed) tasks.push_back(&task);
  cell.control().FindNumbers(tasks);
  for (size_t i = 0; i < placed.size(); ++i) {
    if (i == 2 || i == 3) {
      EXPECT_FALSE(placed[i].number.has_value()) << i;
      continue;
    }
    ASSERT_TRUE(placed[i].number.has_value()) << i;
    EXPECT_EQ(placed[i].number->job, web->job);
    EXPECT_EQ(placed[i].number->task, i == 1 ? web->task : web2->task) << i;
  }
}

TEST(ControlAgents, WindowsBecomeDecisions) {
  ControlCell cell;
  const std::optional<TaskRef> ref = cell.control().agents().Announce(kWeb, At(0));
  Live(cell, 0, 14);
  EXPECT_EQ(cell.control().agents().stored_through(), Window(13));
  ASSERT_FALSE(cell.told().empty());
  const std::optional<StandingTerms> standing = cell.control().agents().Standing(*ref, "");
  ASSERT_TRUE(standing->in_force[1].has_value());
  EXPECT_GT(*standing->in_force[1], 1e8);
  EXPECT_GT(standing->decided_s[1], kStart);
  // The owner's limits are known now.
  cell.control().Look(ref->job, [](const brain::LiveJob& job) {
    EXPECT_EQ(job.of(Resource::kMemory).owner_limit, 3e8F);
    EXPECT_EQ(job.of(Resource::kCpu).tasks, 2U);
  });
}

TEST(ControlAgents, RefusesWhatNoWindowCanHave) {
  ControlCell cell;
  const auto refused = [&](const std::function<void(ReportedWindow&)>& spoil) {
    ReportedWindow w = Usage(0);
    spoil(w);
    return cell.control().agents().TakeWindow(kWeb, std::move(w), At(300)).code() ==
           absl::StatusCode::kInvalidArgument;
  };
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(refused([](ReportedWindow& w) { w.figures.cpu_peak_cores = kNan; }));
  EXPECT_TRUE(refused([](ReportedWindow& w) { w.memory_limit_bytes = INFINITY; }));
  EXPECT_TRUE(refused([](ReportedWindow& w) { w.cpu_buckets.push_back(w.cpu_buckets[0]); }));
  EXPECT_TRUE(refused([](ReportedWindow& w) { w.cpu_buckets[0].bucket = Grid::Cpu().size(); }));
  EXPECT_TRUE(refused([](ReportedWindow& w) { w.cpu_buckets[0].weight = 0; }));
  EXPECT_TRUE(refused([](ReportedWindow& w) { w.cpu_buckets[0].weight = 1e9F; }));
  EXPECT_TRUE(
      refused([](ReportedWindow& w) { w.figures.cpu_mean_cores = w.figures.memory_mean_bytes = kAbsent; }));
  EXPECT_FALSE(refused([](ReportedWindow& w) { w.figures.memory_mean_bytes = kAbsent; }));
}

TEST(ControlAgents, AWindowTooLateOrTooEarlyIsDropped) {
  ControlCell cell;
  Live(cell, 0, 2);
  EXPECT_TRUE(cell.control().agents().TakeWindow(kWeb, Usage(0), At(900)).ok());
  EXPECT_EQ(cell.control().ingest().counts.samples().too_late, 1U);
  EXPECT_EQ(cell.control().agents().TakeWindow(kWeb, Usage(500), At(900)).code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(cell.control().ingest().counts.samples().far_future, 1U);
}

TEST(ControlAgents, WindowsAreHeldAsLongAsItIsSaid) {
  ControlCell cell;
  ASSERT_TRUE(cell.control().agents().TakeWindow(kWeb, Usage(0), At(300)).ok());
  cell.control().agents().HoldWindows(true);
  ASSERT_TRUE(cell.control().Tick(At(5000)).ok());
  EXPECT_FALSE(cell.control().agents().stored_through().has_value());
  ASSERT_TRUE(cell.control().agents().TakeWindow(kWeb2, Usage(0), At(5000)).ok());
  cell.control().agents().HoldWindows(false);
  ASSERT_TRUE(cell.control().Tick(At(5000)).ok());
  EXPECT_EQ(cell.control().agents().stored_through(), Window(0));
  EXPECT_EQ(cell.control().ingest().counts.samples().too_late, 0U);
}

TEST(ControlAgents, AFullStoreIsSaidSoAndNothingTaken) {
  ControlCell cell;
  cell.failing().fail = true;
  absl::Status s;
  int i = 0;
  for (; s.ok() && i < 100; ++i) {
    s = cell.control().agents().TakeWindow(kWeb, Usage(i), At((i + 1) * 300));
    (void)cell.control().Tick(At((i + 1) * 300 + 121));
  }
  EXPECT_EQ(s.code(), absl::StatusCode::kUnavailable);
  cell.failing().fail = false;
  ASSERT_TRUE(cell.control().Tick(At(i * 300 + 121)).ok());
  EXPECT_EQ(cell.control().agents().stored_through(), Window(i - 2));
}

// ---- OOM kills ----

TEST(ControlAgents, AKillToldTwiceIsStoredOnce) {
  ControlCell cell;
  Live(cell, 0, 14);
  const Timestamp time = At(4300);
  ASSERT_TRUE(cell.control().agents().TakeOom(kWeb, time, 2, 2e8, time).ok());
  ASSERT_TRUE(cell.control().agents().TakeOom(kWeb, time, 2, 2e8, time).ok());
  ASSERT_TRUE(cell.control().Tick(time).ok());
  ASSERT_TRUE(cell.control().agents().TakeOom(kWeb, time, 2, 2e8, time).ok());
  ASSERT_TRUE(cell.control().Tick(time).ok());
  ASSERT_EQ(Ooms(cell).size(), 1U);
  EXPECT_EQ(Ooms(cell)[0].kills, 2U);
  EXPECT_EQ(Ooms(cell)[0].limit, 2e8);
  // The limit was raised at once.
  EXPECT_EQ(cell.told().back().kind, DecisionKind::kOomRaise);
  // After a restart, the daemon still recognises a repeated report of the kill.
  cell.Restart();
  // The tasks have other numbers than before the restart.
  ASSERT_TRUE(cell.control().agents().TakeOom(kWeb2, At(4301), 1, 2e8, At(4301)).ok());
  ASSERT_TRUE(cell.control().agents().TakeOom(kWeb, time, 2, 2e8, time).ok());
  ASSERT_TRUE(cell.control().agents().TakeOom(kWeb, time, 2, std::nullopt, time).ok());
  ASSERT_TRUE(cell.control().Tick(time).ok());
  EXPECT_EQ(Ooms(cell).size(), 2U);
}

TEST(ControlAgents, TwoTasksKilledInOneSecondAreTwoKills) {
  ControlCell cell;
  Live(cell, 0, 2);
  const Timestamp time = At(700);
  ASSERT_TRUE(cell.control().agents().TakeOom(kWeb, time, 1, 2e8, time).ok());
  ASSERT_TRUE(cell.control().Tick(time).ok());
  ASSERT_TRUE(cell.control().agents().TakeOom(kWeb2, time, 1, 2e8, time).ok());
  ASSERT_TRUE(cell.control().Tick(time).ok());
  EXPECT_EQ(Ooms(cell).size(), 2U);
}

TEST(ControlAgents, AKillWaitsForAStoreThatFails) {
  ControlCell cell;
  Live(cell, 0, 2);
  cell.failing().fail = true;
  ASSERT_TRUE(cell.control().agents().TakeOom(kWeb, At(700), 1, 2e8, At(700)).ok());
  EXPECT_FALSE(cell.control().Tick(At(701)).ok());
  EXPECT_FALSE(cell.control().Tick(At(702)).ok());
  cell.failing().fail = false;
  ASSERT_TRUE(cell.control().Tick(At(703)).ok());
  EXPECT_EQ(Ooms(cell).size(), 1U);
}

// An order is dated after the kill that caused it, regardless of the clock of the reporting agent.
TEST(ControlAgents, OrdersAreDecidedNowOrAtTheKill) {
  class NotingActuator final : public Actuator {
   public:
    std::string_view name() const override { return "noting"; }
    bool Claims(const TargetOrder& /*order*/) const override { return true; }
    void Apply(std::span<const TargetOrder> orders, int64_t now_s) override {
      for (const TargetOrder& o : orders) noted.emplace_back(o, now_s);
    }
    std::vector<OutcomeUpdate> TakeOutcomes() override { return {}; }
    std::vector<std::pair<TargetOrder, int64_t>> noted;
  };
  InMemoryStore store;
  NotingActuator actuator;
  ControlOptions options;
  brain::JobPolicy defaults;
  defaults.mode = Mode::kAuto;
  defaults.recommender = brain::Policy::kMovingWindow;
  options.live.vertical.moving_window.min_history_s = 3600;
  options.live.rules = *brain::PolicyRules::Compile({}, defaults);
  ControlPlane control(options, *MappingRules::Compile(BuiltinRules()),
                       ControlPlane::Parts{&store, &store, &actuator, [] { return 0.0; }});
  ASSERT_TRUE(control.Restore().ok());
  for (int i = 0; i < 14; ++i) {
    ASSERT_TRUE(control.agents().TakeWindow(kWeb, Usage(i), At((i + 1) * 300)).ok());
    ASSERT_TRUE(control.Tick(At((i + 1) * 300 + 130)).ok());
  }
  ASSERT_FALSE(actuator.noted.empty());
  EXPECT_EQ((actuator.noted.back().second - kStart) % 300, 130);
  // The clock of the task's agent is a minute ahead.
  ASSERT_TRUE(control.agents().TakeOom(kWeb, At(5060), 1, 2e8, At(5000)).ok());
  ASSERT_TRUE(control.Tick(At(5000)).ok());
  EXPECT_EQ(actuator.noted.back().second, kStart + 5060);
  EXPECT_GE(*actuator.noted.back().first.value, 2e8);
}

TEST(ControlAgents, WhereTimeIsTheSamplesAgentsSayIt) {
  InMemoryStore store;
  DryRunActuator actuator;
  ControlOptions options;
  options.ingest.clock = ClockSource::kSamples;
  ControlPlane control(options, *MappingRules::Compile(BuiltinRules()),
                       ControlPlane::Parts{&store, &store, &actuator, [] { return 0.0; }});
  ASSERT_TRUE(control.Restore().ok());
  ASSERT_TRUE(control.Tick(At(1'000'000)).ok());
  control.agents().SeeTime(At(300));
  ASSERT_TRUE(control.agents().TakeWindow(kWeb, Usage(0), At(0)).ok());
  ASSERT_TRUE(control.Tick(At(0)).ok());
  EXPECT_FALSE(control.agents().stored_through().has_value());
  control.agents().SeeTime(At(421));
  control.agents().SeeTime(At(5));
  EXPECT_EQ(control.ingest().time.now(), At(421));
  ASSERT_TRUE(control.Tick(At(0)).ok());
  EXPECT_EQ(control.agents().stored_through(), Window(0));
}

}  // namespace
}  // namespace taut::server
