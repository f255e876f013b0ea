// Tests trials through the hub. A trial continues over redeploys and restarts, and succeeds only if its limit was
// applied.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/agents/hub_fixture.h"
#include "server/agents/order_fixture.h"

namespace taut::server {
namespace {

namespace pb = taut::agent::v1;
using ::testing::HasSubstr;

// An agent that stores the limits that it has applied, by task. The agent applies orders only if `obeys`.
class TrialAgent {
 public:
  TrialAgent(HubCell& cell, bool obeys) : cell_(cell), obeys_(obeys), session_(cell.Connect("a")) {}

  void Reconnect() {
    session_ = cell_.Connect("a");
    taken_ = 0;
    cell_.Tasks(session_, names_);
  }
  void Tasks(Names names) {
    names_ = std::move(names);
    cell_.Tasks(session_, names_);
  }
  void Live(int windows) {
    for (int i = 0; i < windows; ++i) {
      pb::FromAgent message = HubCell::WindowsOf(++sequence_, HubCell::Window(window_), names_);
      for (pb::TaskWindow& t : *message.mutable_windows()->mutable_tasks()) {
        const auto limit = memory_.find(t.name().task());
        t.set_memory_limit_bytes(limit == memory_.end() ? HubCell::kOwnerBytes : limit->second);
        t.set_cpu_limit_cores(4);
        t.set_cpu_limit_steady(true);
        t.set_memory_limit_steady(true);
      }
      cell_.hub().OnMessage(session_, message);
      ASSERT_TRUE(cell_.TickPast(HubCell::Window(window_++)).ok());
      Obey();
    }
  }
  // Returns the tasks whose limit differs from the owner's limit.
  Names Limited() const {
    Names out;
    for (const auto& [task, limit] : memory_) {
      if (limit < HubCell::kOwnerBytes) out.push_back(task);
    }
    return out;
  }

 private:
  void Obey() {
    const std::vector<pb::Order> orders = cell_.server.Orders(session_);
    for (; taken_ < orders.size(); ++taken_) {
      const pb::Order& o = orders[taken_];
      if (!obeys_) {
        continue;
      }
      if (o.resource() == pb::MEMORY) {
        memory_[o.name().task()] = o.has_limit() ? static_cast<float>(o.limit()) : HubCell::kOwnerBytes;
      }
      cell_.Say(session_, o.decision(), o.name().task(), pb::Outcome::APPLIED);
    }
  }

  HubCell& cell_;
  const bool obeys_;
  SessionId session_;
  Names names_;
  std::map<std::string, float> memory_;
  uint64_t sequence_ = 0;
  size_t taken_ = 0;
  int window_ = 0;
};

std::vector<Decision> OfMemory(HubCell& cell) {
  DecisionQuery query;
  query.target = Resource::kMemory;
  std::vector<Decision> out = *cell.store.Decisions(query, History::Reasons::kLeaveOut);
  std::reverse(out.begin(), out.end());
  return out;
}

std::vector<DecisionKind> Kinds(HubCell& cell) {
  std::vector<DecisionKind> out;
  for (const Decision& d : OfMemory(cell)) out.push_back(d.kind);
  return out;
}

const Names kOld = {"old-1", "old-2", "old-3", "old-4"};
const Names kNew = {"new-1", "new-2", "new-3", "new-4"};

TEST(AgentTrials, ReachLivingTasksAfterARedeploy) {
  HubCell cell(Mode::kCanary);
  TrialAgent agent(cell, true);
  agent.Tasks(kOld);
  agent.Live(5);
  agent.Tasks(kNew);  // tasks with the numbers 4 to 7
  agent.Live(12);
  ASSERT_THAT(Kinds(cell), testing::ElementsAre(DecisionKind::kTry));
  ASSERT_EQ(agent.Limited().size(), 1U);
  EXPECT_THAT(agent.Limited()[0], HasSubstr("new-"));
  agent.Live(300);
  ASSERT_THAT(Kinds(cell), testing::ElementsAre(DecisionKind::kTry, DecisionKind::kPromote));
  EXPECT_EQ(agent.Limited().size(), 4U);
  const std::shared_ptr<const FleetView> view = cell.control().view();
  EXPECT_TRUE(view->jobs[0].enforced);
  const JobAmounts& memory = view->jobs[0].of(Resource::kMemory);
  EXPECT_LT(memory.ordered, HubCell::kOwnerBytes);
  EXPECT_NEAR(memory.applied, memory.ordered, 1e4);
}

TEST(AgentTrials, ARedeployDuringTheTrialTakesOtherTasks) {
  HubCell cell(Mode::kCanary);
  TrialAgent agent(cell, true);
  agent.Tasks(kOld);
  agent.Live(20);
  ASSERT_THAT(Kinds(cell), testing::ElementsAre(DecisionKind::kTry));
  agent.Tasks(kNew);
  agent.Live(5);
  Names limited = agent.Limited();
  ASSERT_EQ(limited.size(), 2U) << "one that is gone, and its replacement";
  EXPECT_THAT(limited[0], HasSubstr("new-"));
  agent.Live(300);
  EXPECT_THAT(Kinds(cell), testing::ElementsAre(DecisionKind::kTry, DecisionKind::kPromote));
}

TEST(AgentTrials, AnAgentThatAppliesNothingPromotesNothing) {
  HubCell cell(Mode::kCanary);
  TrialAgent agent(cell, false);
  agent.Tasks(kOld);
  agent.Live(110);
  const std::vector<Decision> decisions = OfMemory(cell);
  ASSERT_GE(decisions.size(), 2U);
  EXPECT_EQ(decisions[0].kind, DecisionKind::kTry);
  EXPECT_EQ(decisions[1].kind, DecisionKind::kRollBack);
  EXPECT_THAT(decisions[1].sentence, HasSubstr("was not applied to any task on trial within 6 h"));
}

// A trial that is rolled back for another cause than its limit is stored with the same kind of decision as a
// failed trial.
TEST(AgentTrials, ALimitThatWasNotAppliedIsNotBlamedAfterAKill) {
  HubCell cell(Mode::kCanary);
  TrialAgent agent(cell, false);
  agent.Tasks(kOld);
  for (int i = 0; i < 110 && Kinds(cell).size() < 2; ++i) agent.Live(1);
  ASSERT_THAT(Kinds(cell), testing::ElementsAre(DecisionKind::kTry, DecisionKind::kRollBack));
  cell.Restart();
  EXPECT_TRUE(cell.control().Look(JobId{0}, [](const brain::LiveJob& job) {
    const brain::GateState& gate = job.of(Resource::kMemory).gate;
    EXPECT_FALSE(gate.trial.has_value());
    EXPECT_EQ(gate.rolled_back_s, INT64_MIN);
  }));
}

TEST(AgentTrials, KeepTheirTasksOverARestart) {
  HubCell cell(Mode::kCanary);
  TrialAgent agent(cell, true);
  agent.Tasks(kOld);
  agent.Live(5);
  agent.Tasks(kNew);
  agent.Live(20);
  const Names before = agent.Limited();
  ASSERT_EQ(before.size(), 1U);
  cell.Restart();
  agent.Reconnect();
  agent.Live(20);
  EXPECT_EQ(agent.Limited(), before);
  std::string name;
  cell.control().Look(JobId{0}, [&](const brain::LiveJob& job) {
    const Boxed<brain::Trial>& trial = job.of(Resource::kMemory).gate.trial;
    ASSERT_TRUE(trial.has_value());
    ASSERT_EQ(trial->members.size(), 1U);
    name = trial->members[0].name;
    EXPECT_GT(trial->tasks.task_windows, 25U);
    EXPECT_EQ(trial->elsewhere, 0U);
  });
  EXPECT_EQ(name, before[0]);
  agent.Live(300);
  EXPECT_THAT(Kinds(cell), testing::ElementsAre(DecisionKind::kTry, DecisionKind::kPromote));
}

TEST(AgentTrials, AJobThatNobodyManagesIsNotTried) {
  HubCell cell(Mode::kCanary);
  const SessionId a = cell.Connect("a");
  cell.Tasks(a, kOld, "shop/web", true, false);
  cell.Live(a, kOld, 0, 30);
  EXPECT_TRUE(OfMemory(cell).empty());
  cell.control().Look(JobId{0}, [&](const brain::LiveJob& job) {
    EXPECT_THAT(job.of(Resource::kMemory).hold, HasSubstr("no agent applies limits to its tasks"));
  });
}

TEST(AgentTrials, WhatAnAgentRefusesForGoodIsTheFloor) {
  HubCell cell(Mode::kAuto);
  const SessionId a = cell.Connect("a");
  cell.Tasks(a, {"a/1"});
  cell.Live(a, {"a/1"}, 0, 14);
  const std::vector<pb::Order> orders = cell.server.Orders(a);
  ASSERT_FALSE(orders.empty());
  for (const pb::Order& o : orders) {
    if (o.resource() != pb::MEMORY) continue;
    pb::FromAgent message;
    pb::Outcome& outcome = *message.mutable_outcomes()->add_outcomes();
    outcome.set_decision(o.decision());
    *outcome.mutable_name() = o.name();
    outcome.set_resource(o.resource());
    outcome.set_result(pb::Outcome::FAILED);
    outcome.set_text("below the minimum of 160 MB");
    outcome.set_minimum(1.6e8);
    cell.hub().OnMessage(a, message);
  }
  cell.Live(a, {"a/1"}, 14, 30);
  const std::vector<Decision> decisions = OfMemory(cell);
  EXPECT_EQ(decisions[0].outcome, Outcome::kFailed);
  EXPECT_THAT(decisions[0].outcome_text, HasSubstr("below the minimum"));
  ASSERT_EQ(decisions.size(), 2U) << "one more, at the floor";
  EXPECT_EQ(decisions[1].after, 1.6e8);
  ASSERT_EQ(cell.hub().Agents().known.size(), 1U);
  ASSERT_EQ(cell.hub().Agents().known[0].failures.size(), 1U);
  EXPECT_EQ(cell.hub().Agents().known[0].failures[0].task, "a/1");
}

}  // namespace
}  // namespace taut::server
