// Tests oom_score_adj by tier, and kills caused by a limit above the task, over tasks and processes in memory.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/agent/release.h"
#include "node/agent/tier_fixture.h"

namespace taut::node {
namespace {

namespace pb = taut::agent::v1;
using ::testing::HasSubstr;

class AgentScores : public ::testing::Test {
 protected:
  AgentScores() {
    web_ = &cell_.Add("web", "h/w", 60 * kMiB);
    batch_ = &cell_.Add("batch/a", "h/a", 10 * kMiB);
    web_->pids = {10, 11};
    batch_->pids = {20};
    for (const int pid : {10, 11, 20}) cell_.processes.Add(pid, 0);
    cell_.options.tiers.guard.throttle = true;
  }
  int Value(int pid) const { return cell_.processes.processes.at(pid).oom_score_adj; }
  void Release() {
    TaskFinder* finders[] = {&cell_.tasks};
    for (const Released& r : taut::node::Release(cell_.ledger, finders, cell_.processes))
      EXPECT_TRUE(r.ok) << r.text;
  }

  TierCell cell_;
  InMemoryTask *web_ = nullptr, *batch_ = nullptr;
};

TEST_F(AgentScores, EachProcessGetsItsTiersAndLosesItAtTheEnd) {
  cell_.Begin();
  cell_.Run(2);
  EXPECT_EQ(Value(10), -800);
  EXPECT_EQ(Value(11), -800);
  EXPECT_EQ(Value(20), 800);
  // One process was forked; another process was moved into the group.
  cell_.processes.Add(21, 800, 20);
  cell_.processes.Add(22, 5);
  batch_->pids = {20, 21, 22};
  cell_.Run(11);
  EXPECT_EQ(Value(22), 800);
  const int writes = cell_.processes.writes;
  cell_.Run(60);
  EXPECT_EQ(cell_.processes.writes, writes) << "once";
  cell_.agent->Stop(cell_.now);
  EXPECT_EQ(Value(10), 0);
  EXPECT_EQ(Value(20), 0);
  EXPECT_EQ(Value(21), 0) << "what its parent had";
  EXPECT_EQ(Value(22), 5);
  EXPECT_TRUE(cell_.ledger.entries().empty());
}

TEST_F(AgentScores, AfterACrashTheNextStartOrReleaseKnowsTheOwners) {
  cell_.processes.Add(20, -300);
  cell_.Begin();
  cell_.Run(2);
  EXPECT_EQ(Value(20), 800);
  cell_.agent.reset();  // without Stop, as after a crash
  cell_.processes.Add(21, 800, 20);
  batch_->pids = {20, 21};
  cell_.Begin();
  cell_.Run(6);
  EXPECT_EQ(Value(20), 800);
  cell_.agent.reset();
  const std::string text = Ledger::Text({cell_.ledger.entries(), {}, {}});
  EXPECT_THAT(text, HasSubstr("tautlet ledger 5\n"));
  EXPECT_TRUE(Ledger::Parse(text, "l").ok());
  Release();
  EXPECT_EQ(Value(10), 0);
  EXPECT_EQ(Value(20), -300);
  EXPECT_EQ(Value(21), -300);
  EXPECT_TRUE(cell_.ledger.entries().empty());
}

TEST_F(AgentScores, AnotherConfigurationTakesThePlaceOfTheLast) {
  cell_.Begin();
  cell_.Run(2);
  cell_.agent.reset();
  cell_.options.tiers.oom_score_adj[1] = 600;
  cell_.options.tiers.oom_score_adj[3] = 0;
  cell_.Begin();
  cell_.Run(6);
  EXPECT_EQ(Value(20), 600);
  EXPECT_EQ(Value(10), 0);
  cell_.agent.reset();
  cell_.options.tiers.guard.throttle = false;
  cell_.Begin();
  cell_.Run(6);
  EXPECT_EQ(Value(20), 0);
}

TEST_F(AgentScores, NothingIsSetWithoutTheGuardOrInObserveOrOfWhatIsNotManaged) {
  for (const int what : {0, 1, 2, 3}) {
    TierCell cell;
    InMemoryTask& batch = cell.Add("batch/a", "h/a", 10 * kMiB);
    batch.pids = {20};
    cell.processes.Add(20, 0);
    cell.options.tiers.guard.throttle = what != 0;
    cell.options.observe = what == 1;
    cell.options.rules[0].manage = what != 2;
    cell.options.tiers.sets_oom_scores = what != 3;
    cell.Begin();
    cell.Run(30);
    EXPECT_EQ(cell.processes.writes, 0) << what;
  }
}

TEST_F(AgentScores, WhatIsRefusedIsSaidAndTheRestIsSet) {
  cell_.processes.may_lower = false;
  cell_.Begin();
  cell_.Run(2);
  EXPECT_EQ(Value(10), 0);
  EXPECT_EQ(Value(20), 800);
  EXPECT_THAT(cell_.agent->errors().at("tiers, oom_score_adj"), HasSubstr("web / h/w"));
}

TEST_F(AgentScores, WhoLeavesTheTaskGetsTheOwnersBack) {
  cell_.Begin();
  cell_.Run(2);
  web_->pids = {10};
  batch_->pids = {};
  cell_.processes.processes.erase(20);
  cell_.Run(11);
  EXPECT_EQ(Value(11), 0);
  EXPECT_EQ(Value(10), -800);
}

// ---- limits of the cgroups above a task ----

class AgentAbove : public ::testing::Test {
 protected:
  AgentAbove() {
    cell_.options.rules[0].cpu = CpuStyle::kHard;
    task_ = &cell_.Add("shop/web", "h/w", 20 * kMiB);
    task_->limits.memory_max_bytes = 256 * kMiB;
    task_->limits.cpu_max_cores = 2;
    task_->reading.limit_ooms = 3;
    task_->above = {{"/shop/web", std::nullopt, 1.5, 0}, {"/shop", 200 * kMiB, std::nullopt, 7}};
    cell_.Terms("shop/web", true);
  }
  // Returns the newest act of this name.
  AgentAct Last(std::string_view action) {
    AgentAct out;
    for (AgentAct& act : cell_.agent->TakeActs()) {
      if (act.action == action) out = std::move(act);
    }
    return out;
  }
  std::vector<pb::FromAgent> Sent(pb::FromAgent::BodyCase body) const {
    std::vector<pb::FromAgent> out;
    for (const ScriptedUplink::Sent& sent : cell_.uplink.sent) {
      if (sent.message.body_case() == body) out.push_back(sent.message);
    }
    return out;
  }

  AgentCell cell_;
  InMemoryTask* task_ = nullptr;
};

TEST_F(AgentAbove, AKillAtTheGroupsLimitIsTheGroupsAndRaisesNothing) {
  cell_.Start();
  cell_.Run(3);
  *task_->reading.oom_kills += 1;
  task_->above[1].limit_ooms = 8;
  cell_.Run(11);
  EXPECT_EQ(task_->limits.memory_max_bytes, 256 * kMiB);
  EXPECT_EQ(cell_.agent->counts().local_raises, 0U);
  EXPECT_TRUE(Sent(pb::FromAgent::kOom).empty());
  const auto acts = Sent(pb::FromAgent::kTierAct);
  ASSERT_EQ(acts.size(), 1U);
  EXPECT_EQ(acts[0].tier_act().kind(), pb::TierAct::KERNEL_KILL);
  const AgentAct act = Last("oom_kill");
  EXPECT_EQ(act.kills, 1U);
  EXPECT_EQ(act.text,
            "the kernel killed 1 process at the limit of cgroup /shop above it (200 MiB), not at its own of "
            "256 MiB; no limit is raised");
}

TEST_F(AgentAbove, AKillForWantOfTheMachinesMemoryIsTheMachines) {
  cell_.Start();
  cell_.Run(3);
  *task_->reading.oom_kills += 2;
  cell_.Run(11);
  EXPECT_EQ(task_->limits.memory_max_bytes, 256 * kMiB);
  EXPECT_THAT(Last("oom_kill").text, HasSubstr("2 processes for want of the machine's memory"));
}

TEST_F(AgentAbove, AKillAtItsOwnLimitRaisesItWithinWhatIsAbove) {
  task_->above[1].memory_max_bytes = 300 * kMiB;
  cell_.Start();
  cell_.Run(3);
  *task_->reading.limit_ooms += 1;
  cell_.Run(11);  // read before the kernel counts the kill
  *task_->reading.limit_ooms += 1;
  *task_->reading.oom_kills += 1;
  cell_.Run(11);
  EXPECT_EQ(task_->limits.memory_max_bytes, 300 * kMiB) << "1.2 times 256 MiB, and 100 MiB, would be 356";
  EXPECT_EQ(Sent(pb::FromAgent::kOom).size(), 1U);
}

TEST_F(AgentAbove, TheLeastIsTheLimitInForce) {
  cell_.Start();
  cell_.Run(3);
  const auto tasks = Sent(pb::FromAgent::kTasks);
  ASSERT_FALSE(tasks.empty());
  EXPECT_EQ(tasks.back().tasks().started(0).memory_bytes(), 200 * kMiB);
  EXPECT_EQ(tasks.back().tasks().started(0).cpu_cores(), 1.5);
  EXPECT_EQ(tasks.back().tasks().started(0).owner_memory_bytes(), 256 * kMiB);
  cell_.Run(310);
  const auto windows = Sent(pb::FromAgent::kWindows);
  ASSERT_FALSE(windows.empty());
  EXPECT_EQ(windows[0].windows().tasks(0).memory_limit_bytes(), 200 * kMiB);
  EXPECT_EQ(windows[0].windows().tasks(0).cpu_limit_cores(), 1.5F);
  // The limit above the task is removed: the task's own limit is in force again and is reported.
  task_->above[1].memory_max_bytes.reset();
  cell_.Run(60);
  const auto after = Sent(pb::FromAgent::kTasks);
  EXPECT_EQ(after.back().tasks().started(0).memory_bytes(), 256 * kMiB);
}

TEST_F(AgentAbove, AnOrderAboveWhatTheGroupAllowsIsSaid) {
  cell_.Start();
  cell_.Run(3);
  cell_.Order(*task_, Resource::kMemory, 300 * kMiB, 9);
  cell_.Run(2);
  ASSERT_TRUE(cell_.LastOutcome(9).has_value());
  EXPECT_EQ(cell_.LastOutcome(9)->result(), pb::Outcome::APPLIED);
  EXPECT_EQ(cell_.LastOutcome(9)->text(), "cgroup /shop above the task allows only 200 MiB");
}

}  // namespace
}  // namespace taut::node
