// Tests probing by the agent: the owner of memory.high at each time, the state after a probe ends, and the reports
// to tautd.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/agent/release.h"
#include "node/agent/tier_fixture.h"

namespace taut::node {
namespace {

using ::testing::HasSubstr;

// One batch task that has allocated `footprint` bytes and uses `working` bytes of them all the time. The task
// stalls if memory.high is below `working`. The machine has enough memory.
struct ProbeCell : TierCell {
  ProbeCell() {
    options.probe.tiers[static_cast<size_t>(Tier::kBatch)] = true;
    batch = &Add("batch/a", "h/a", footprint);
    batch->reading.memory_pressure.some_us = 0;
  }
  // Advances the kernel and the task by `seconds`.
  void Live(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      const double high = batch->limits.memory_high_bytes.value_or(footprint);
      SetUsage(*batch, std::min(high, footprint));
      if (batch->reading.memory_pressure.some_us.has_value() && high < working)
        *batch->reading.memory_pressure.some_us += static_cast<uint64_t>(5e6 * (working - high) / working);
      Run(1);
    }
  }
  double high() const { return batch->limits.memory_high_bytes.value_or(0); }
  std::vector<std::string> ProbeActs() {
    std::vector<std::string> out;
    for (const AgentAct& act : agent->TakeActs()) {
      if (act.action.starts_with("probe_")) out.emplace_back(act.action);
    }
    return out;
  }

  double footprint = 300 * kMiB, working = 200 * kMiB;
  InMemoryTask* batch = nullptr;
};

TEST(AgentProbe, FindsWhatATaskNeedsAndReportsItWithItsWindows) {
  ProbeCell cell;
  cell.footprint = 600 * kMiB;  // more than the steps of one window can probe
  cell.Begin();
  cell.Live(1200);
  EXPECT_NEAR(cell.high(), cell.working, 0.05 * cell.working);
  EXPECT_EQ(cell.ProbeActs(), Strings{"probe_started"});
  const auto windows = cell.uplink.Windows();
  ASSERT_GE(windows.size(), 3U);
  EXPECT_FALSE(windows.front().tasks(0).has_memory_needed_bytes()) << "not found yet is absent";
  ASSERT_TRUE(windows.back().tasks(0).has_memory_needed_bytes());
  EXPECT_NEAR(windows.back().tasks(0).memory_needed_bytes(), cell.working, 0.05 * cell.working);
  EXPECT_EQ(cell.agent->counts().foreign_changes, 0U);
  EXPECT_EQ(cell.batch->kills, 0);
}

TEST(AgentProbe, NothingIsTouchedUnlessItsTierOrJobIsNamedAndItMayBeManaged) {
  for (const int what : {0, 1, 2, 3, 4, 5}) {
    ProbeCell cell;
    cell.options.probe.tiers = {};
    if (what == 1) cell.options.probe.jobs = "other/*";
    if (what > 1) cell.options.probe.jobs = "batch/*";
    if (what == 2) cell.options.observe = true;
    if (what == 3) cell.options.rules[0].manage = false;
    if (what == 4) cell.options.has_memory_high = false;
    if (what == 5) cell.options.rules[0].memory = MemoryStyle::kSoft;
    cell.Begin();
    cell.Live(60);
    EXPECT_TRUE(cell.batch->writes.empty()) << what;
  }
  ProbeCell named;
  named.options.probe.tiers = {};
  named.options.probe.jobs = "batch/*";
  named.Begin();
  named.Live(60);
  EXPECT_FALSE(named.batch->writes.empty());
}

TEST(AgentProbe, MemoryHighIsTheOwnersAgainWhenItStopsOrAfterACrash) {
  for (const std::optional<double> owners : {std::optional<double>(), std::optional<double>(280 * kMiB)}) {
    for (const int how : {0, 1, 2, 3}) {
      ProbeCell cell;
      cell.batch->limits.memory_high_bytes = owners;
      cell.Begin();
      cell.Live(60);
      ASSERT_LT(cell.high(), 280 * kMiB);
      ASSERT_GT(cell.high(), 0);
      if (how == 0) cell.agent->Stop(cell.now);
      if (how > 0) cell.agent.reset();  // without Stop, as after a crash
      if (how == 1) {
        TaskFinder* finders[] = {&cell.tasks};
        Release(cell.ledger, finders, cell.processes);
      }
      if (how == 2) cell.options.probe = {};
      if (how > 1) {
        cell.Begin();
        cell.Run(6);
      }
      if (how < 3) {
        EXPECT_EQ(cell.batch->limits.memory_high_bytes, owners) << how;
      } else {
        // The probe begins again from the task's usage, and the owner's value is still known.
        cell.Live(60);
        cell.agent->Stop(cell.now);
        EXPECT_EQ(cell.batch->limits.memory_high_bytes, owners);
      }
    }
  }
}

TEST(AgentProbe, AnotherProgramsMemoryHighStays) {
  ProbeCell cell;
  cell.Begin();
  cell.Live(60);
  cell.batch->limits.memory_high_bytes = 250 * kMiB;
  cell.Live(60);
  EXPECT_EQ(cell.high(), 250 * kMiB);
  EXPECT_EQ(cell.ProbeActs(), (Strings{"probe_started", "probe_ended"}));
  cell.agent->Stop(cell.now);
  EXPECT_EQ(cell.high(), 250 * kMiB);
}

// The batch task uses 200 of 256 MiB; then production grows.
TEST(AgentProbe, TheGuardTakesMemoryHighAndGivesItBackAsItsOwnerHadIt) {
  ProbeCell cell;
  cell.footprint = 160 * kMiB;
  cell.working = 120 * kMiB;
  cell.batch->limits.memory_high_bytes = 200 * kMiB;
  cell.options.tiers.guard.throttle = true;
  InMemoryTask& web = cell.Add("web", "h/w", 10 * kMiB);
  cell.Begin();
  cell.Live(60);
  const double probed = cell.high();
  ASSERT_LT(probed, 160 * kMiB);
  AgentCell::SetUsage(web, 256 * kMiB - probed - 10 * kMiB);
  cell.Live(1);
  EXPECT_LT(cell.high(), 0.95 * probed) << "throttled";
  EXPECT_THAT(cell.uplink.TierActs(), ::testing::SizeIs(1));
  const double throttled = cell.high();
  const size_t writes = cell.batch->writes.size();
  // Memory is still short: usage falls to the throttle's limit, and the task web uses the rest.
  for (int i = 0; i < 30; ++i) {
    AgentCell::SetUsage(web, 256 * kMiB - throttled - 10 * kMiB);
    cell.Live(1);
  }
  EXPECT_EQ(cell.high(), throttled) << "the probe leaves it alone";
  EXPECT_EQ(cell.batch->writes.size(), writes);
  AgentCell::SetUsage(web, 10 * kMiB);
  cell.agent->TakeActs();
  cell.Live(31);
  EXPECT_EQ(cell.uplink.TierActs().back().kind(), taut::agent::v1::TierAct::RELEASE);
  cell.Live(10);
  EXPECT_EQ(cell.ProbeActs(), Strings{"probe_started"}) << "then it begins anew";
  cell.agent->Stop(cell.now);
  EXPECT_EQ(cell.high(), 200 * kMiB) << "the owner's";
}

TEST(AgentProbe, PressureThatStaysReleasesTheTask) {
  ProbeCell cell;
  cell.Begin();
  cell.Live(30);
  ASSERT_GT(cell.high(), 0);
  for (int i = 0; i < 30; ++i) {
    *cell.batch->reading.memory_pressure.some_us += 400'000;  // the task stalls, as on a slow disk
    cell.Live(1);
  }
  EXPECT_EQ(cell.batch->limits.memory_high_bytes, std::nullopt);
  EXPECT_EQ(cell.ProbeActs(), (Strings{"probe_started", "probe_ended"}));
}

TEST(AgentProbe, ATaskWithoutPressureFiguresIsNotProbed) {
  ProbeCell cell;
  cell.batch->reading.memory_pressure.some_us.reset();
  cell.Begin();
  cell.Live(60);
  EXPECT_TRUE(cell.batch->writes.empty());
}

TEST(AgentProbe, AGroupWithAnotherTaskOrTheAgentInItIsNotProbed) {
  for (const bool is_own : {true, false}) {
    ProbeCell cell;
    cell.batch->cgroup_path = "/slice";
    if (is_own) cell.options.own_groups = {"/slice/tautlet.service"};
    if (!is_own) cell.Add("web", "h/w", 10 * kMiB).cgroup_path = "/slice/web";
    cell.Begin();
    cell.Live(60);
    EXPECT_TRUE(cell.batch->writes.empty()) << is_own;
  }
  ProbeCell beside;
  beside.batch->cgroup_path = "/slice";
  beside.Add("web", "h/w", 10 * kMiB).cgroup_path = "/slice-of-others";
  beside.Begin();
  beside.Live(60);
  EXPECT_FALSE(beside.batch->writes.empty());
}

TEST(AgentProbe, AKernelThatRefusesIsAskedOnceAndSaid) {
  ProbeCell cell;
  cell.batch->set_error = absl::UnimplementedError("no memory.high here");
  cell.Begin();
  cell.Live(60);
  EXPECT_TRUE(cell.agent->errors().empty());
  ProbeCell denied;
  denied.batch->set_error = absl::PermissionDeniedError("read-only");
  denied.Begin();
  denied.Live(3);
  ASSERT_FALSE(denied.agent->errors().empty());
  EXPECT_THAT(denied.agent->errors().begin()->second, HasSubstr("read-only"));
  denied.batch->set_error = absl::OkStatus();
  denied.Live(3);
  EXPECT_GT(denied.high(), 0);
  EXPECT_TRUE(denied.agent->errors().empty());
}

TEST(AgentProbe, AnotherMemoryMaxBeginsAnew) {
  ProbeCell cell;
  cell.options.rules[0].memory = MemoryStyle::kHard;
  cell.batch->limits.memory_max_bytes = 512 * kMiB;
  cell.Begin();
  cell.Live(300);
  const double before = cell.high();
  ASSERT_LT(before, 0.75 * cell.footprint);
  cell.Terms("batch/a", true);
  cell.Order(*cell.batch, Resource::kMemory, 600 * kMiB, 1);
  cell.Live(3);
  EXPECT_EQ(cell.batch->limits.memory_max_bytes, 600 * kMiB);
  EXPECT_EQ(cell.ProbeActs(), (Strings{"probe_started", "probe_ended", "probe_started"}));
}

// A window has a needed value only if the probe covered the whole window: limits are computed from this value.
TEST(AgentProbe, AWindowSaysWhatTheTaskNeededAllTheTime) {
  ProbeCell cell;
  cell.footprint = 600 * kMiB;
  cell.Begin();
  cell.Live(1200);
  const auto needed = [](const auto& windows) {
    std::vector<double> out;
    for (const auto& w : windows)
      out.push_back(w.tasks(0).has_memory_needed_peak_bytes() ? double{w.tasks(0).memory_needed_peak_bytes()}
                                                              : -1);
    return out;
  };
  std::vector<double> all = needed(cell.uplink.Windows());
  ASSERT_GE(all.size(), 3U);
  EXPECT_LT(all.front(), cell.footprint) << "the least that it ran within, before its need is found";
  EXPECT_NEAR(all.back(), cell.working, 0.05 * cell.working);
  // Neither a task that is not probed nor a window that ends with the agent's stop has a needed value.
  cell.Live(60);
  cell.agent->Stop(cell.now);
  EXPECT_EQ(needed(cell.uplink.Windows()).back(), -1);
  ProbeCell off;
  off.options.probe = {};
  off.Begin();
  off.Live(700);
  for (const double n : needed(off.uplink.Windows())) EXPECT_EQ(n, -1);
}

}  // namespace
}  // namespace taut::node
