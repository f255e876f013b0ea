// Tests which orders each agent receives, and which outcomes the hub reports for the orders.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/agents/hub_fixture.h"
#include "server/agents/order_fixture.h"
#include "server/control/set_one_fixture.h"

namespace taut::server {
namespace {

namespace pb = taut::agent::v1;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Returns the last outcome of this decision since the last call.
std::optional<OutcomeUpdate> OutcomeOf(HubCell& cell, uint64_t decision) {
  std::optional<OutcomeUpdate> out;
  for (const OutcomeUpdate& o : cell.hub().TakeOutcomes()) {
    if (o.id == decision) out = o;
  }
  return out;
}

TEST(AgentHubOrders, ReachTheTasksTheyAreFor) {
  HubCell cell;
  const SessionId a = cell.Connect("a"), b = cell.Connect("b");
  cell.Tasks(a, {"a/1", "a/2"});
  cell.Tasks(b, {"b/1"});
  ASSERT_TRUE(cell.Tick().ok());
  cell.hub().Apply(std::vector{OrderOf(5, 1e8, Names{"a/2", "b/1"})}, 77);
  ASSERT_EQ(cell.server.Orders(a).size(), 1U);
  const pb::Order order = cell.server.Orders(a)[0];
  EXPECT_EQ(order.name().task(), "a/2");
  EXPECT_EQ(order.decision(), 5U);
  EXPECT_EQ(order.limit(), 1e8);
  EXPECT_EQ(order.resource(), pb::MEMORY);
  EXPECT_EQ(order.decided_s(), 77);
  ASSERT_EQ(cell.server.Orders(b).size(), 1U);
  EXPECT_EQ(cell.server.Orders(b)[0].name().task(), "b/1");
  cell.hub().Apply(std::vector{OrderOf(6, std::nullopt)}, 78);
  EXPECT_EQ(cell.server.Orders(a).size(), 3U);
  EXPECT_FALSE(cell.server.Orders(a)[1].has_limit());
  EXPECT_EQ(cell.hub().counts().orders, 5U);
}

// After a restart, tautd sends a release again, because a task whose agent was disconnected may still have the
// limit.
TEST(AgentHubOrders, AnAppliedReleaseIsSentAgainAfterAKill) {
  HubCell cell;
  SessionId a = cell.Connect("a");
  cell.Tasks(a, {"a/1"});
  cell.Live(a, {"a/1"}, 0, 14);
  const std::vector<pb::Order> set = cell.server.Orders(a);
  ASSERT_FALSE(set.empty());
  const std::optional<JobId> job = cell.control().Find("shop/web");
  ASSERT_TRUE(job.has_value());
  ASSERT_TRUE(SetOne(cell.control(), *job, "mode", "off", "owner").ok());
  const std::vector<pb::Order> all = cell.server.Orders(a);
  ASSERT_GT(all.size(), set.size());
  for (size_t i = set.size(); i < all.size(); ++i) {
    EXPECT_FALSE(all[i].has_limit());
    cell.Say(a, all[i].decision(), "a/1", pb::Outcome::APPLIED);
  }
  ASSERT_TRUE(cell.Tick().ok());
  cell.Restart();
  EXPECT_THAT(cell.hub().TakeOutcomes(), IsEmpty()) << "its outcome is stored";
  a = cell.Connect("a");
  cell.Tasks(a, {"a/1"});
  ASSERT_TRUE(cell.Tick().ok());
  const std::vector<pb::Order> again = cell.server.Orders(a);
  ASSERT_FALSE(again.empty());
  for (const pb::Order& order : again) EXPECT_FALSE(order.has_limit());
  for (const pb::Terms& terms : cell.server.Terms(a)) EXPECT_FALSE(terms.apply());
}

TEST(AgentHubOrders, OutcomesOfTasksComeToOneOfTheOrder) {
  HubCell cell;
  const SessionId a = cell.Connect("a"), b = cell.Connect("b");
  cell.Tasks(a, {"a/1", "a/2"});
  cell.Tasks(b, {"b/1"});
  cell.hub().Apply(std::vector{OrderOf(5, 1e8)}, 0);
  EXPECT_EQ(OutcomeOf(cell, 5), std::nullopt);
  cell.Say(a, 5, "a/1", pb::Outcome::APPLIED);
  EXPECT_EQ(OutcomeOf(cell, 5), std::nullopt) << "the others have not said anything";
  cell.Say(a, 5, "a/2", pb::Outcome::HELD, "usage is in the way");
  std::optional<OutcomeUpdate> o = OutcomeOf(cell, 5);
  ASSERT_TRUE(o.has_value());
  EXPECT_EQ(o->outcome, Outcome::kPending);
  EXPECT_EQ(o->text, "1 of 3 tasks: a/2: usage is in the way");
  cell.Say(b, 5, "b/1", pb::Outcome::FAILED, "no");
  o = OutcomeOf(cell, 5);
  EXPECT_EQ(o->outcome, Outcome::kFailed);
  EXPECT_EQ(o->text, "1 of 3 tasks: b/1: no");
  cell.Say(b, 5, "b/1", pb::Outcome::APPLIED);
  EXPECT_EQ(OutcomeOf(cell, 5)->outcome, Outcome::kPending);
  cell.Say(a, 5, "a/2", pb::Outcome::APPLIED);
  o = OutcomeOf(cell, 5);
  EXPECT_EQ(o->outcome, Outcome::kApplied);
  EXPECT_EQ(o->text, "on 3 of 3 tasks");
  cell.Say(a, 5, "a/2", pb::Outcome::APPLIED);
  cell.Say(a, 99, "a/2", pb::Outcome::APPLIED);
  cell.Say(a, 5, "nobody", pb::Outcome::FAILED);
  EXPECT_EQ(OutcomeOf(cell, 5), std::nullopt) << "nothing new";
  EXPECT_EQ(cell.hub().counts().applied, 5U);
}

TEST(AgentHubOrders, ANewOneSupersedesWhatIsNotCarriedOut) {
  HubCell cell;
  const SessionId a = cell.Connect("a");
  cell.Tasks(a, {"a/1"});
  cell.hub().Apply(std::vector{OrderOf(5, 1e8)}, 0);
  cell.hub().Apply(std::vector{OrderOf(6, 2e8)}, 0);
  EXPECT_EQ(OutcomeOf(cell, 5)->outcome, Outcome::kSuperseded);
  cell.Say(a, 6, "a/1", pb::Outcome::APPLIED);
  EXPECT_EQ(OutcomeOf(cell, 6)->outcome, Outcome::kApplied);
  cell.hub().Apply(std::vector{OrderOf(7, 3e8)}, 0);
  EXPECT_EQ(OutcomeOf(cell, 6), std::nullopt) << "it was applied, and stays so";
}

TEST(AgentHubOrders, NobodyToCarryThemOut) {
  {
    HubCell cell;
    cell.hub().Apply(std::vector{OrderOf(5, 1e8)}, 0);
    std::optional<OutcomeUpdate> o = OutcomeOf(cell, 5);
    EXPECT_EQ(o->outcome, Outcome::kDryRun);
    EXPECT_EQ(o->text, "no agent has this job");
    const SessionId a = cell.Connect("a");
    cell.Tasks(a, {"a/1"}, "shop/web", true, false);
    cell.hub().Apply(std::vector{OrderOf(6, 1e8)}, 0);
    o = OutcomeOf(cell, 6);
    EXPECT_EQ(o->outcome, Outcome::kDryRun);
    EXPECT_THAT(o->text, HasSubstr("manage: false"));
    EXPECT_THAT(cell.server.Orders(a), IsEmpty());
  }
  {
    HubCell cell(Mode::kAuto, false);
    const SessionId a = cell.Connect("a");
    cell.Tasks(a, {"a/1"});
    cell.hub().Apply(std::vector{OrderOf(5, 1e8)}, 0);
    EXPECT_THAT(OutcomeOf(cell, 5)->text, HasSubstr("dry_run"));
    EXPECT_THAT(cell.server.Orders(a), IsEmpty());
  }
  {
    HubCell cell;
    pb::FromAgent hello = HelloOf("a");
    hello.mutable_hello()->set_observe(true);
    cell.hub().OnConnect(50, hello, "");
    cell.Tasks(50, {"a/1"}, "shop/web", true, false);
    cell.hub().Apply(std::vector{OrderOf(5, 1e8)}, 0);
    EXPECT_THAT(OutcomeOf(cell, 5)->text, HasSubstr("--observe"));
  }
}

TEST(AgentHubOrders, AgentsClaimTheJobsWhoseTasksTheyManage) {
  HubCell cell;
  const SessionId a = cell.Connect("a");
  EXPECT_FALSE(cell.hub().Claims({.job = "shop/web", .target = Resource::kMemory}));
  cell.Tasks(a, {"a/1"}, "shop/web", true, false);
  EXPECT_FALSE(cell.hub().Claims({.job = "shop/web", .target = Resource::kMemory})) << "manage: false";
  cell.Tasks(a, {"a/1"});
  EXPECT_TRUE(cell.hub().Claims({.job = "shop/web", .target = Resource::kMemory}));
  cell.hub().OnDisconnect(a);
  EXPECT_TRUE(cell.hub().Claims({.job = "shop/web", .target = Resource::kMemory}))
      << "it gets its orders when it reconnects";
  HubCell dry(Mode::kAuto, false);
  dry.Tasks(dry.Connect("a"), {"a/1"});
  EXPECT_FALSE(dry.hub().Claims({.job = "shop/web", .target = Resource::kMemory}));
}

TEST(AgentHubOrders, JobsOfAnotherActuatorAreOnlyMeasured) {
  HubCell cell;
  cell.elsewhere = [](const std::string& job) { return job == "shop/api"; };
  cell.Restart();
  const SessionId a = cell.Connect("a");
  cell.Tasks(a, {"web-0"}, "shop/web");
  cell.Tasks(a, {"api-0"}, "shop/api", false);
  ASSERT_TRUE(cell.Tick().ok());
  EXPECT_TRUE(cell.hub().Claims({.job = "shop/web", .target = Resource::kMemory}));
  EXPECT_FALSE(cell.hub().Claims({.job = "shop/api", .target = Resource::kMemory}));
  std::map<std::string, bool> apply;
  for (const auto& terms : cell.server.Terms(a)) apply[terms.job()] = terms.apply();
  EXPECT_THAT(apply, testing::UnorderedElementsAre(testing::Pair("shop/web", true),
                                                   testing::Pair("shop/api", false)));
}

TEST(AgentHubOrders, TasksThatAreGoneDoNotCountAsDone) {
  HubCell cell;
  const SessionId a = cell.Connect("a");
  cell.Tasks(a, {"a/1", "a/2"});
  cell.hub().Apply(std::vector{OrderOf(5, 1e8)}, 0);
  cell.Gone(a, "a/1");
  EXPECT_EQ(OutcomeOf(cell, 5), std::nullopt);
  cell.Say(a, 5, "a/2", pb::Outcome::APPLIED);
  EXPECT_EQ(OutcomeOf(cell, 5)->outcome, Outcome::kApplied);
  cell.hub().Apply(std::vector{OrderOf(6, 1e8)}, 0);
  cell.Gone(a, "a/2");
  const std::optional<OutcomeUpdate> o = OutcomeOf(cell, 6);
  EXPECT_EQ(o->outcome, Outcome::kPending);
  EXPECT_THAT(o->text, HasSubstr("gone"));
}

TEST(AgentHubOrders, AnAgentThatIsAwayIsToldWhenItComesBack) {
  HubCell cell;
  const Names names = {"a/1"};
  SessionId a = cell.Connect("a");
  cell.Tasks(a, names);
  cell.Live(a, names, 0, 11);
  cell.hub().OnDisconnect(a);
  ASSERT_THAT(cell.server.Orders(a), IsEmpty());
  // The agent sends a window and disconnects before the decision on this window.
  a = cell.Connect("a");
  cell.Tasks(a, names);
  cell.Windows(a, 12, HubCell::Window(11), names);
  cell.Windows(a, 13, HubCell::Window(12), names);
  cell.Windows(a, 14, HubCell::Window(13), names);
  cell.hub().OnDisconnect(a);
  ASSERT_TRUE(cell.TickPast(HubCell::Window(13)).ok());
  DecisionQuery query;
  std::vector<Decision> decisions = *cell.store.Decisions(query, History::Reasons::kLeaveOut);
  ASSERT_FALSE(decisions.empty());
  for (const Decision& d : decisions) EXPECT_EQ(d.outcome, Outcome::kPending);
  EXPECT_THAT(decisions[0].outcome_text, HasSubstr("disconnected"));
  EXPECT_THAT(cell.server.Orders(a), IsEmpty());
  a = cell.Connect("a");
  cell.Tasks(a, names);
  EXPECT_EQ(OutcomeOf(cell, decisions[0].id), std::nullopt) << "to be there is not to have it";
  ASSERT_TRUE(cell.Tick().ok());
  const std::vector<pb::Order> orders = cell.server.Orders(a);
  ASSERT_EQ(orders.size(), 2U) << "CPU and memory";
  ASSERT_EQ(cell.server.Terms(a).size(), 1U);
  EXPECT_TRUE(cell.server.Terms(a)[0].apply());
  for (const pb::Order& o : orders) {
    EXPECT_TRUE(o.has_limit());
    EXPECT_GT(o.decided_s(), HubCell::kStart);
    EXPECT_NE(o.decision(), 0U);
    cell.Say(a, o.decision(), "a/1", pb::Outcome::APPLIED);
  }
  ASSERT_TRUE(cell.Tick().ok());
  decisions = *cell.store.Decisions(query, History::Reasons::kLeaveOut);
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(decisions[i].outcome, Outcome::kApplied);
  // A repeated report of the tasks' limits must not cause an order.
  cell.Tasks(a, names, "shop/web", false);
  ASSERT_TRUE(cell.Tick().ok());
  EXPECT_EQ(cell.server.Orders(a).size(), 2U);
}

TEST(AgentHubOrders, ATaskThatComesLaterGetsWhatStands) {
  HubCell cell;
  const SessionId a = cell.Connect("a");
  cell.Tasks(a, {"a/1"});
  cell.Live(a, {"a/1"}, 0, 14);
  const size_t before = cell.server.Orders(a).size();
  ASSERT_GE(before, 2U);
  cell.Tasks(a, {"a/2"}, "shop/web", false);
  ASSERT_TRUE(cell.Tick().ok());
  const std::vector<pb::Order> orders = cell.server.Orders(a);
  ASSERT_EQ(orders.size(), before + 2);
  EXPECT_EQ(orders.back().name().task(), "a/2");
  // Also after a restart of the daemon, each task receives its orders once.
  cell.Restart();
  const SessionId again = cell.Connect("a", 1, 0);
  cell.Tasks(again, {"a/1", "a/2"});
  ASSERT_TRUE(cell.Tick().ok());
  ASSERT_TRUE(cell.Tick().ok());
  EXPECT_EQ(cell.server.Orders(again).size(), 4U);
}

TEST(AgentHubOrders, WhatStandsWaitsForTheKillsThatAnAgentBrings) {
  HubCell cell;
  SessionId a = cell.Connect("a");
  cell.Tasks(a, {"a/1"});
  cell.Live(a, {"a/1"}, 0, 14);
  cell.hub().OnDisconnect(a);
  a = cell.Connect("a", 1, 1);
  cell.Tasks(a, {"a/1"});
  ASSERT_TRUE(cell.Tick().ok());
  EXPECT_THAT(cell.server.Orders(a), IsEmpty());
  cell.Oom(a, 15, "a/1", cell.now_s - 5);
  ASSERT_TRUE(cell.Tick().ok());
  // The raise after the kill and the standing order have the same amount.
  double memory = 0;
  for (const pb::Order& o : cell.server.Orders(a)) {
    if (o.resource() != pb::MEMORY) continue;
    EXPECT_TRUE(memory == 0 || o.limit() == memory) << o.limit();
    memory = o.limit();
    EXPECT_GE(o.decided_s(), cell.now_s - 6);
  }
  EXPECT_GE(memory, 2e8);
}

TEST(AgentHubOrders, TermsFollowTheMode) {
  HubCell cell;
  const SessionId a = cell.Connect("a");
  cell.Tasks(a, {"a/1"});
  cell.Live(a, {"a/1"}, 0, 14);
  ASSERT_EQ(cell.server.Terms(a).size(), 1U);
  EXPECT_TRUE(cell.server.Terms(a)[0].apply());
  const JobId job = *cell.control().Find("shop/web");
  ASSERT_TRUE(SetOne(cell.control(), job, "memory.upper", "3GiB", "anna").ok());
  ASSERT_TRUE(cell.Tick().ok());
  ASSERT_EQ(cell.server.Terms(a).size(), 2U);
  EXPECT_EQ(cell.server.Terms(a)[1].memory_upper_bytes(), 3.0 * (1 << 30));
  EXPECT_EQ(cell.server.Terms(a)[1].startup_grace_s(), 300U);
  ASSERT_TRUE(SetOne(cell.control(), job, "class", "batch", "anna").ok());
  ASSERT_TRUE(cell.Tick().ok());
  EXPECT_EQ(cell.server.Terms(a).back().startup_grace_s(), 60U);
  ASSERT_TRUE(SetOne(cell.control(), job, "startup_grace", "2m", "anna").ok());
  ASSERT_TRUE(cell.Tick().ok());
  EXPECT_EQ(cell.server.Terms(a).back().startup_grace_s(), 120U);
  EXPECT_FALSE(cell.server.Terms(a).back().has_throttle_control());
  ASSERT_TRUE(SetOne(cell.control(), job, "cpu.throttle_target", "2%", "anna").ok());
  ASSERT_TRUE(SetOne(cell.control(), job, "cpu.lower", "0.25", "anna").ok());
  ASSERT_TRUE(cell.Tick().ok());
  EXPECT_EQ(cell.server.Terms(a).back().throttle_control().target(), 0.02);
  EXPECT_EQ(cell.server.Terms(a).back().throttle_control().low(), 0.7);
  EXPECT_EQ(cell.server.Terms(a).back().throttle_control().high(), 2);
  EXPECT_EQ(cell.server.Terms(a).back().throttle_control().lower_cores(), 0.25);
  ASSERT_TRUE(SetOne(cell.control(), job, "mode", "observe", "anna").ok());
  ASSERT_TRUE(cell.Tick().ok());
  EXPECT_FALSE(cell.server.Terms(a).back().apply());
  EXPECT_FALSE(cell.server.Orders(a).back().has_limit()) << "the owner's again";
}

// A tautd with a new store has no orders. A limit set by another tautd is released if the mode requires it, and
// otherwise remains in force.
TEST(AgentHubOrders, ANewStoreGivesBackWhatAnotherHasSet) {
  for (const char* const mode : {"off", "observe", "auto"}) {
    HubCell cell;
    SessionId a = cell.Connect("a");
    cell.Tasks(a, {"a/1"});
    ASSERT_TRUE(cell.Tick().ok());
    const JobId job = *cell.control().Find("shop/web");
    ASSERT_TRUE(SetOne(cell.control(), job, "mode", mode, "anna").ok());
    ASSERT_TRUE(cell.Tick().ok());
    cell.hub().OnDisconnect(a);
    a = cell.Connect("a");
    cell.Tasks(a, {"a/1"});
    ASSERT_TRUE(cell.Tick().ok());
    const auto orders = cell.server.Orders(a);
    EXPECT_EQ(orders.empty(), std::string_view(mode) == "auto") << mode;
    for (const pb::Order& o : orders) {
      EXPECT_FALSE(o.has_limit()) << "the owner's";
      EXPECT_EQ(o.decided_s(), 0) << "no decision is newer than a raise or an owner's change";
    }
  }
}

TEST(AgentHubOrders, AReleaseReachesWhoWasAway) {
  HubCell cell;
  SessionId a = cell.Connect("a");
  cell.Tasks(a, {"a/1"});
  cell.Live(a, {"a/1"}, 0, 14);
  cell.hub().OnDisconnect(a);
  const JobId job = *cell.control().Find("shop/web");
  ASSERT_TRUE(SetOne(cell.control(), job, "mode", "observe", "anna").ok());
  ASSERT_TRUE(cell.Tick().ok());
  a = cell.Connect("a");
  cell.Tasks(a, {"a/1"});
  ASSERT_TRUE(cell.Tick().ok());
  ASSERT_EQ(cell.server.Orders(a).size(), kResources.size()) << "each is the owner's again";
  cell.steady_s = cell.steady_s + 7200;
  for (const pb::Order& o : cell.server.Orders(a)) {
    EXPECT_FALSE(o.has_limit());
    cell.Say(a, o.decision(), "a/1", pb::Outcome::APPLIED);
  }
  ASSERT_TRUE(cell.Tick().ok());
  EXPECT_EQ((*cell.store.Decisions(DecisionQuery(), History::Reasons::kLeaveOut))[0].outcome,
            Outcome::kApplied);
  EXPECT_LT(cell.hub().counts().slowest_order_ms, 7'200'000) << "two hours away are no slow order";
}

TEST(AgentHubOrders, ATaskThatMovedBelongsToItsNewAgent) {
  HubCell cell;
  const SessionId a = cell.Connect("a"), b = cell.Connect("b");
  cell.Tasks(a, {"x/1"});
  cell.Tasks(b, {"x/1"});
  cell.Gone(a, "x/1");
  cell.hub().OnDisconnect(a);
  cell.hub().Apply(std::vector{OrderOf(5, 1e8)}, 0);
  EXPECT_EQ(cell.server.Orders(b).size(), 1U);
}

}  // namespace
}  // namespace taut::server
