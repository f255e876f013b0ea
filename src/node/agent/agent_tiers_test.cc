// Tests the values that tiers set and restore, and the acts before memory runs out, over tasks in memory.
#include "common/base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/agent/cpu_weight.h"
#include "node/agent/release.h"
#include "node/agent/tier_fixture.h"

namespace taut::node {
namespace {

using ::testing::HasSubstr;

TEST(AgentTiers, NothingIsTouchedUnlessConfigured) {
  TierCell cell;
  InMemoryTask& batch = cell.Add("batch/a", "h/a", 250 * kMiB);
  cell.Begin();
  cell.Run(60);
  EXPECT_TRUE(batch.writes.empty());
  EXPECT_EQ(batch.kills, 0);
  EXPECT_TRUE(cell.ledger.entries().empty());
}

TEST(AgentTiers, SetsWeightAndProtectionAndGivesThemBack) {
  TierCell cell;
  cell.options.tiers.cpu_weight = {1, 20, 0, 500, 0};
  cell.options.tiers.protect[3] = MemoryProtection::kLow;
  InMemoryTask& batch = cell.Add("batch/a", "h/a", 10 * kMiB);
  InMemoryTask& web = cell.Add("web", "h/w", 10 * kMiB);
  InMemoryTask& mid = cell.Add("mid", "h/m", 10 * kMiB);
  for (InMemoryTask* task : {&batch, &web, &mid}) task->limits.cpu_weight = 100;
  web.limits.memory_max_bytes = 64 * kMiB;
  cell.Begin();
  cell.Run(2);
  EXPECT_EQ(batch.limits.cpu_weight, 20.0);
  EXPECT_EQ(web.limits.cpu_weight, 500.0);
  EXPECT_EQ(web.limits.memory_low_bytes, 64 * kMiB) << "no request: its limit";
  EXPECT_TRUE(mid.writes.empty());
  const size_t writes = web.writes.size();
  cell.Run(200);
  EXPECT_EQ(web.writes.size(), writes) << "once";

  web.limits.cpu_weight = 300;  // weight that the owner set by hand
  cell.Run(60);
  EXPECT_EQ(web.limits.cpu_weight, 300.0) << "another's word stays";
  cell.agent->Stop(cell.now);
  EXPECT_EQ(batch.limits.cpu_weight, 100.0);
  EXPECT_EQ(web.limits.cpu_weight, 300.0);
  EXPECT_EQ(web.limits.memory_low_bytes, std::nullopt);
}

TEST(AgentTiers, AfterACrashReleaseOrAnotherConfigurationGivesBack) {
  for (const bool by_release : {true, false}) {
    TierCell cell;
    cell.options.tiers.cpu_weight = {1, 20, 0, 500, 0};
    InMemoryTask& batch = cell.Add("batch/a", "h/a", 10 * kMiB);
    batch.limits.cpu_weight = 100;
    cell.Begin();
    cell.Run(2);
    EXPECT_EQ(batch.limits.cpu_weight, 20.0);
    cell.agent.reset();  // without Stop, as after a crash
    if (by_release) {
      TaskFinder* finders[] = {&cell.tasks};
      Release(cell.ledger, finders, cell.processes);
    } else {
      cell.options.tiers = {};
      cell.Begin();
      cell.Run(6);  // the agent looks for tasks every 5 s
    }
    EXPECT_EQ(batch.limits.cpu_weight, 100.0) << by_release;
  }
}

TEST(AgentTiers, ATiersWeightTakesThePlaceOfAnOrdersWeight) {
  TierCell cell;
  cell.options.rules[0].cpu = CpuStyle::kSoft;
  cell.options.tiers.cpu_weight[1] = 20;
  InMemoryTask& batch = cell.Add("batch/a", "h/a", 10 * kMiB);
  batch.limits.cpu_weight = 100;
  cell.Begin();
  cell.Run(2);
  cell.Order(batch, Resource::kCpu, 4.0, 7);
  cell.Run(2);
  cell.agent->Beat(0, 0);
  ASSERT_TRUE(cell.LastOutcome(7).has_value());
  EXPECT_EQ(cell.LastOutcome(7)->result(), taut::agent::v1::Outcome::FAILED);
  EXPECT_THAT(cell.LastOutcome(7)->text(), HasSubstr("tiers.cpu_weight.batch"));
  EXPECT_EQ(batch.limits.cpu_weight, 20.0);
}

TEST(AgentTiers, SharesHaveTheRatiosOfTheWeights) {
  TierCell cell;
  cell.options.has_shares = true;
  cell.options.tiers.cpu_weight = {1, 20, 100, 400, 0};
  std::vector<std::pair<InMemoryTask*, uint64_t>> tasks = {{&cell.Add("web", "h/w", kMiB), 4096},
                                                           {&cell.Add("mid", "h/m", kMiB), 1024},
                                                           {&cell.Add("batch/a", "h/a", kMiB), 205},
                                                           {&cell.Add("free", "h/f", kMiB), 10}};
  for (const auto& [task, shares] : tasks) task->limits.cpu_weight = WeightOfShares(500);
  cell.Begin();
  cell.Run(2);
  for (const auto& [task, shares] : tasks) {
    EXPECT_EQ(SharesOfWeight(*task->limits.cpu_weight), shares) << task->found.task;
  }
}

// The guard checks a quarter of a second after a sample, with the task's usage at that time.
TEST(AgentTiers, ActsBetweenSamplesOnWhatGrows) {
  TierCell cell;
  InMemoryTask& web = cell.Add("web", "h/w", 200 * kMiB);
  InMemoryTask& batch = cell.Add("batch/a", "h/a", kMiB / 2);
  cell.Guard();
  cell.Run(5);
  EXPECT_EQ(cell.agent->guard_due_us(), cell.now.steady_us + 250'000);
  AgentCell::SetUsage(batch, 45 * kMiB);
  cell.memory.used = 245 * kMiB;
  NodeTime now = cell.now;
  now.steady_us += 250'000;
  cell.agent->GuardAgain(now);
  EXPECT_EQ(batch.kills, 1) << "11 MiB are left, 44 were taken at once";
  EXPECT_EQ(web.kills, 0);
  EXPECT_EQ(cell.agent->guard_due_us(), now.steady_us + 100'000) << "little is free";
  now.steady_us += 1000;
  cell.agent->GuardAgain(now);
  EXPECT_EQ(cell.agent->guard_due_us(), now.steady_us - 1000 + 10'000) << "too soon";
}

// Without predictions (ahead_us of 0), the guard acts on the amount of free memory alone.
TEST(AgentTiers, ThrottlesAndThenKillsTheLowestTierAndSaysWhy) {
  TierCell cell;
  cell.options.tiers.guard.ahead_us = 0;
  InMemoryTask& web = cell.Add("web", "h/w", 150 * kMiB);
  InMemoryTask& mid = cell.Add("mid", "h/m", 30 * kMiB);
  InMemoryTask& batch = cell.Add("batch/a", "h/a", 40 * kMiB);
  cell.Guard();
  cell.Run(5);
  EXPECT_EQ(cell.Acts(), Strings());
  AgentCell::SetUsage(batch, 66 * kMiB);  // 10 MiB are free
  cell.Run(1);
  EXPECT_EQ(cell.Acts(), Strings{"task_throttled h/a"});
  EXPECT_NEAR(*batch.limits.memory_high_bytes, 0.9 * 66 * kMiB, 1);
  EXPECT_NE(cell.ledger.Find(batch.found.identity), nullptr);
  cell.Run(4);
  EXPECT_EQ(batch.kills, 0);
  cell.Run(1);
  EXPECT_EQ(batch.kills, 1);
  EXPECT_EQ(mid.kills + web.kills, 0);
  EXPECT_TRUE(web.writes.empty());
  bool is_told = false;
  for (const AgentAct& act : cell.agent->TakeActs()) {
    if (act.action != "task_killed") continue;
    is_told = true;
    EXPECT_EQ(act.guard->memory->free, 10 * kMiB);
    EXPECT_EQ(act.guard->task.usage, 66 * kMiB);
    EXPECT_EQ(act.guard->task.request, 20 * kMiB);
    EXPECT_EQ(act.text,
              "free 10.0 MiB of 256 MiB is below 12.8 MiB; batch task uses 66.0 MiB, 46.0 MiB over its "
              "request of 20.0 MiB");
  }
  EXPECT_TRUE(is_told);
  EXPECT_EQ(cell.agent->counts().ooms, 0U) << "it is no OOM kill";
  EXPECT_EQ(cell.agent->counts().local_raises, 0U);
  cell.Run(60);
  EXPECT_EQ(batch.limits.memory_high_bytes, std::nullopt) << "as it was, when memory is free again";
  EXPECT_EQ(mid.limits.memory_high_bytes, std::nullopt);
  EXPECT_EQ(cell.agent->counts().guard_kills, 1U);
}

// memory.high belongs to the guard while it throttles.
TEST(AgentTiers, AnOrderForMemoryWaitsWhileTheGuardThrottles) {
  TierCell cell;
  cell.options.rules[0].memory = MemoryStyle::kSoft;
  cell.options.rules[0].cpu = CpuStyle::kHard;
  cell.options.tiers.guard.throttle = true;
  cell.Add("web", "h/w", 180 * kMiB);
  InMemoryTask& batch = cell.Add("batch/a", "h/a", 40 * kMiB);
  cell.Begin();
  cell.Run(5);
  AgentCell::SetUsage(batch, 66 * kMiB);
  cell.Run(1);
  const LimitValue throttled = batch.limits.memory_high_bytes;
  ASSERT_NEAR(throttled.value_or(0), 0.9 * 66 * kMiB, 1);
  cell.Order(batch, Resource::kMemory, 100 * kMiB, 1);
  cell.Order(batch, Resource::kCpu, 1.5, 2);
  cell.Run(3);
  EXPECT_EQ(batch.limits.memory_high_bytes, throttled);
  EXPECT_EQ(batch.limits.cpu_max_cores, 1.5);
  AgentCell::SetUsage(batch, 10 * kMiB);
  cell.Run(60);
  EXPECT_EQ(batch.limits.memory_high_bytes, 100 * kMiB);
}

TEST(AgentTiers, EndsThrottlingWhenItStopsAndAfterACrash) {
  for (const bool crashes : {false, true}) {
    TierCell cell;
    cell.Add("web", "h/w", 180 * kMiB);
    InMemoryTask& batch = cell.Add("batch/a", "h/a", 60 * kMiB);
    batch.limits.memory_high_bytes = 100 * kMiB;
    cell.options.tiers.guard.throttle = true;
    cell.Begin();
    cell.Run(2);
    EXPECT_NEAR(*batch.limits.memory_high_bytes, 54 * kMiB, 1);
    if (!crashes) cell.agent->Stop(cell.now);
    AgentCell::SetUsage(batch, 20 * kMiB);
    if (crashes) {
      cell.Begin();
      cell.Run(6);
    }
    EXPECT_EQ(batch.limits.memory_high_bytes, 100 * kMiB) << crashes;
    EXPECT_EQ(batch.kills, 0) << "kill is off";
  }
}

TEST(AgentTiers, ObservingOrUnmanagedNothingIsDone) {
  TierCell cell;
  cell.options.observe = true;
  cell.options.tiers.cpu_weight[1] = 20;
  cell.Add("web", "h/w", 180 * kMiB);
  InMemoryTask& batch = cell.Add("batch/a", "h/a", 70 * kMiB);
  cell.Guard();
  cell.Run(10);
  EXPECT_TRUE(batch.writes.empty());
  EXPECT_EQ(batch.kills, 0);
  bool is_said = false;
  for (const AgentAct& act : cell.agent->TakeActs()) is_said |= act.text.starts_with("observe, not done: ");
  EXPECT_TRUE(is_said);

  TierCell unmanaged;
  unmanaged.options.rules[0].manage = false;
  unmanaged.Add("web", "h/w", 180 * kMiB);
  InMemoryTask& left = unmanaged.Add("batch/a", "h/a", 75 * kMiB);
  unmanaged.Guard();
  unmanaged.Run(10);
  EXPECT_TRUE(left.writes.empty());
  EXPECT_EQ(left.kills, 0);
  EXPECT_THAT(unmanaged.agent->errors().at("memory guard"), HasSubstr("no task of tier mid, batch or free"));
}

TEST(AgentTiers, ActsOnNoGroupWithItselfOrAHigherTierInIt) {
  TierCell cell;
  cell.options.own_groups = {"/own/tautlet"};
  cell.options.tiers.guard_of = "";
  InMemoryTask& web = cell.Add("web", "h/w", 100 * kMiB);
  InMemoryTask& around = cell.Add("free/around", "h/x", 40 * kMiB);
  InMemoryTask& own = cell.Add("free/own", "h/o", 40 * kMiB);
  InMemoryTask& beside = cell.Add("free/beside", "h/b", 75 * kMiB);
  web.cgroup_path = "/slice/web";
  around.cgroup_path = "/slice";
  own.cgroup_path = "/own";
  beside.cgroup_path = "/slice-of-others";
  cell.Guard();
  cell.Run(1);
  EXPECT_EQ(around.kills + own.kills + web.kills, 0);
  EXPECT_EQ(beside.kills, 1);

  TierCell within;
  within.options.tiers.guard_of = "/batch";
  InMemoryTask& in = within.Add("free/in", "h/i", 120 * kMiB);
  InMemoryTask& out = within.Add("free/out", "h/o", 136 * kMiB);
  in.cgroup_path = "/batch/a";
  out.cgroup_path = "/other";
  within.Guard();
  within.Run(1);
  EXPECT_EQ(in.kills, 1);
  EXPECT_EQ(out.kills, 0);
}

TEST(AgentTiers, SaysWhenMemoryIsNotKnownAndWhenAKillFails) {
  TierCell cell;
  InMemoryTask& batch = cell.Add("batch/a", "h/a", 254 * kMiB);
  batch.kill_error = absl::PermissionDeniedError("no CAP_KILL");
  cell.memory.error = absl::NotFoundError("no such group");
  cell.Guard();
  cell.Run(2);
  EXPECT_EQ(cell.agent->errors().at("memory guard"), "no such group");
  cell.memory.error = absl::OkStatus();
  cell.Run(2);
  EXPECT_EQ(cell.Acts(), (Strings{"task_throttled h/a", "task_not_killed h/a"}));
  EXPECT_EQ(cell.agent->counts().guard_kills, 0U);
}

}  // namespace
}  // namespace taut::node
