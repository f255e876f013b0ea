// Tests of the hub: the times at which it acknowledges messages of agents, and windows that wait for agents.
#include "server/agents/agent_hub.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/agents/hub_fixture.h"

namespace taut::server {
namespace {

namespace pb = taut::agent::v1;
using ::testing::ElementsAre;

// ---- windows and acknowledgements ----

TEST(AgentHubWindows, ReachTheFleetAndAreAcknowledgedOnceStored) {
  HubCell cell;
  const SessionId a = cell.Connect("a"), b = cell.Connect("b");
  cell.Windows(a, 1, HubCell::Window(0), {"a/1", "a/2"});
  cell.Windows(b, 7, HubCell::Window(0), {"b/1"}, 2e8);
  ASSERT_TRUE(cell.Tick(60).ok());
  EXPECT_EQ(cell.server.Acked(a), 0U) << "the window is still open";
  EXPECT_EQ(cell.hub().counts().unacknowledged, 2U);
  ASSERT_TRUE(cell.TickPast(HubCell::Window(0)).ok());
  EXPECT_EQ(cell.server.Acked(a), 1U);
  EXPECT_EQ(cell.server.Acked(b), 7U);
  EXPECT_EQ(cell.hub().counts().unacknowledged, 0U);
  const auto stored = cell.StoredTasks();
  ASSERT_EQ(stored.size(), 1U);
  ASSERT_EQ(stored.begin()->second.size(), 3U);
  EXPECT_EQ(stored.begin()->second[2].memory_mean_bytes, 2e8F);
  EXPECT_EQ(cell.control().view()->jobs.size(), 1U);
  EXPECT_EQ(cell.hub().counts().task_windows, 3U);
}

TEST(AgentHubWindows, AStoreThatFailsIsWaitedFor) {
  HubCell cell;
  const SessionId a = cell.Connect("a");
  cell.Windows(a, 1, HubCell::Window(0), {"a/1"});
  cell.Oom(a, 2, "a/1", HubCell::kStart + 10);
  cell.failing.fail = true;
  EXPECT_FALSE(cell.TickPast(HubCell::Window(0)).ok());
  EXPECT_FALSE(cell.Tick().ok());
  EXPECT_EQ(cell.server.Acked(a), 0U);
  // The agent resends the message twice, and the hub processes it once.
  for (int i = 0; i < 2; ++i) {
    const SessionId again = cell.Connect("a", 1, 2);
    cell.Windows(again, 1, HubCell::Window(0), {"a/1"});
    cell.Oom(again, 2, "a/1", HubCell::kStart + 10);
    EXPECT_FALSE(cell.Tick().ok());
    EXPECT_EQ(cell.server.Acked(again), 0U);
  }
  cell.failing.fail = false;
  ASSERT_TRUE(cell.Tick().ok());
  ASSERT_TRUE(cell.Tick().ok());
  EXPECT_EQ(cell.server.Acked(3), 2U);
  ASSERT_EQ(cell.StoredTasks().size(), 1U);
  EXPECT_EQ(cell.StoredTasks().begin()->second.size(), 1U);
  EXPECT_EQ(cell.StoredOoms(), 1U);
  EXPECT_EQ(cell.hub().counts().repeats, 4U);
}

TEST(AgentHubWindows, RepeatsOfWhatIsStoredAreAcknowledgedAtOnce) {
  HubCell cell;
  SessionId a = cell.Connect("a");
  for (int i = 0; i < 3; ++i) cell.Windows(a, i + 1, HubCell::Window(i), {"a/1"});
  ASSERT_TRUE(cell.TickPast(HubCell::Window(2)).ok());
  ASSERT_EQ(cell.server.Acked(a), 3U);
  // The acknowledgement was lost.
  cell.hub().OnDisconnect(a);
  a = cell.Connect("a", 1, 3);
  for (int i = 0; i < 3; ++i) cell.Windows(a, i + 1, HubCell::Window(i), {"a/1"});
  ASSERT_TRUE(cell.Tick().ok());
  EXPECT_EQ(cell.server.Acked(a), 3U) << "all three at once";
  EXPECT_EQ(cell.hub().counts().repeats, 3U);
}

TEST(AgentHubWindows, AfterARestartOfTheDaemonWhatWasStoredIsTakenOnce) {
  HubCell cell;
  SessionId a = cell.Connect("a");
  cell.Windows(a, 1, HubCell::Window(0), {"a/1"});
  cell.Oom(a, 2, "a/1", HubCell::kStart + 10);
  ASSERT_TRUE(cell.TickPast(HubCell::Window(0)).ok());
  cell.Restart();
  a = cell.Connect("a", 1, 3);
  cell.Windows(a, 1, HubCell::Window(0), {"a/1"});
  cell.Oom(a, 2, "a/1", HubCell::kStart + 10);
  cell.Windows(a, 3, HubCell::Window(1), {"a/1"});
  ASSERT_TRUE(cell.TickPast(HubCell::Window(1)).ok());
  EXPECT_EQ(cell.server.Acked(a), 3U);
  EXPECT_EQ(cell.StoredTasks().size(), 2U);
  EXPECT_EQ(cell.StoredOoms(), 1U);
}

TEST(AgentHubWindows, ANewQueueCountsAnew) {
  HubCell cell;
  SessionId a = cell.Connect("a", 1);
  cell.Windows(a, 5, HubCell::Window(0), {"a/1"});
  ASSERT_TRUE(cell.TickPast(HubCell::Window(0)).ok());
  a = cell.Connect("a", 2);
  cell.Windows(a, 1, HubCell::Window(1), {"a/1"});
  ASSERT_TRUE(cell.TickPast(HubCell::Window(1)).ok());
  EXPECT_EQ(cell.server.Acked(a), 1U);
  EXPECT_EQ(cell.StoredTasks().size(), 2U);
}

TEST(AgentHubWindows, WhatCannotBeTakenInNowIsNotOvertaken) {
  HubCell cell;
  const SessionId a = cell.Connect("a");
  // The agent sends more windows than the hub has room for.
  cell.failing.fail = true;
  int i = 0;
  for (; cell.server.closed().empty() && i < 100; ++i) {
    cell.Windows(a, static_cast<uint64_t>(i) + 1, HubCell::Window(i), {"a/1", "a/2"});
    EXPECT_FALSE(cell.TickPast(HubCell::Window(i)).ok());
  }
  ASSERT_THAT(cell.server.closed(), ElementsAre(a));
  // Further messages are in the stream when it is closed.
  cell.failing.fail = false;
  ASSERT_TRUE(cell.Tick().ok());
  cell.Windows(a, static_cast<uint64_t>(i) + 1, HubCell::Window(i), {"a/1", "a/2"});
  cell.hub().OnDisconnect(a);
  ASSERT_TRUE(cell.TickPast(HubCell::Window(i)).ok());
  EXPECT_EQ(cell.StoredTasks().size(), static_cast<size_t>(i) - 1);
  const SessionId again = cell.Connect("a", 1, 2);
  cell.Windows(again, static_cast<uint64_t>(i), HubCell::Window(i + 1), {"a/1", "a/2"});
  cell.Windows(again, static_cast<uint64_t>(i) + 1, HubCell::Window(i + 2), {"a/1", "a/2"});
  ASSERT_TRUE(cell.TickPast(HubCell::Window(i + 2)).ok());
  EXPECT_EQ(cell.server.Acked(again), static_cast<uint64_t>(i) + 1);
  EXPECT_EQ(cell.StoredTasks().size(), static_cast<size_t>(i) + 1);
}

TEST(AgentHubWindows, OneOfTheFarFutureIsLetGo) {
  HubCell cell;
  const SessionId a = cell.Connect("a");
  cell.Windows(a, 1, HubCell::Window(500), {"a/1"});
  cell.Windows(a, 2, HubCell::Window(0), {"a/1"});
  ASSERT_TRUE(cell.TickPast(HubCell::Window(0)).ok());
  EXPECT_EQ(cell.server.Acked(a), 2U);
  EXPECT_EQ(cell.StoredTasks().size(), 1U);
  EXPECT_EQ(cell.hub().counts().refused, 1U);
}

TEST(AgentHubWindows, ARefusedMessageIsLetGo) {
  HubCell cell;
  const SessionId a = cell.Connect("a", 1, 2);
  cell.hub().OnRefused(a, 4, absl::InvalidArgumentError("what is that"));
  cell.hub().OnRefused(a, 0, absl::InvalidArgumentError("and that"));
  cell.hub().OnRefused(99, 1, absl::InvalidArgumentError("and who is that"));
  ASSERT_TRUE(cell.Tick().ok());
  EXPECT_EQ(cell.server.Acked(a), 4U);
  EXPECT_EQ(cell.hub().counts().refused, 3U);
}

TEST(AgentHubWindows, TheNewerStreamOfAnAgentWins) {
  HubCell cell;
  const SessionId old = cell.Connect("a");
  cell.Tasks(old, {"a/1"});
  const SessionId newer = cell.Connect("a");
  EXPECT_THAT(cell.server.closed(), ElementsAre(old));
  cell.Windows(old, 1, HubCell::Window(0), {"a/1"});  // a message of the old stream arrives late
  cell.Windows(newer, 1, HubCell::Window(0), {"a/1"}, 3e8);
  cell.Tasks(newer, {"a/1"});
  cell.hub().OnDisconnect(old);
  cell.hub().OnDisconnect(old);
  ASSERT_TRUE(cell.TickPast(HubCell::Window(0)).ok());
  EXPECT_EQ(cell.server.Acked(old), 0U);
  EXPECT_EQ(cell.server.Acked(newer), 1U);
  EXPECT_EQ(cell.StoredTasks().begin()->second[0].memory_mean_bytes, 3e8F);
  EXPECT_EQ(cell.hub().counts().agents, 1U);
  EXPECT_EQ(cell.hub().counts().connected, 1U);
  const AgentView view = cell.hub().Agents().known[0];
  EXPECT_TRUE(view.connected);
  EXPECT_EQ(view.tasks, 1U);
  EXPECT_EQ(view.managed_tasks, 1U);
}

// ---- holding windows ----

TEST(AgentHubHold, WindowsWaitAfterAStartAndWhileAnAgentBringsWhatItKept) {
  HubCell cell;
  SessionId a = cell.Connect("a");
  cell.Windows(a, 1, HubCell::Window(0), {"a/1"});
  ASSERT_TRUE(cell.TickPast(HubCell::Window(0)).ok());
  cell.now_s += 3600;
  cell.Restart();
  ASSERT_TRUE(cell.Tick().ok());
  a = cell.Connect("a", 1, 2);
  cell.Windows(a, 2, HubCell::Window(1), {"a/1"});
  ASSERT_TRUE(cell.Tick(6).ok());  // the hold after the start has ended
  EXPECT_EQ(cell.StoredTasks().size(), 1U);
  cell.Windows(a, 3, HubCell::Window(2), {"a/1"});
  ASSERT_TRUE(cell.Tick().ok());
  EXPECT_EQ(cell.StoredTasks().size(), 3U);
  EXPECT_EQ(cell.server.Acked(a), 3U);
}

TEST(AgentHubHold, IsBoundedHoweverManyAgentsCome) {
  HubCell cell;
  SessionId a = cell.Connect("a");
  cell.Windows(a, 1, HubCell::Window(0), {"a/1"});
  ASSERT_TRUE(cell.TickPast(HubCell::Window(0)).ok());
  cell.Windows(a, 2, HubCell::Window(1), {"a/1"});
  cell.now_s += 3600;
  int held = 0;
  for (; held < 100; ++held) {
    a = cell.Connect("a", 1, 1000);  // the agent never catches up
    ASSERT_TRUE(cell.Tick(1).ok());
    if (cell.StoredTasks().size() == 2) break;
  }
  EXPECT_GT(held, 10);
  EXPECT_LT(held, 20);
}

TEST(AgentHub, ShowsItsAgents) {
  HubCell cell;
  pb::FromAgent hello = HelloOf("a");
  hello.mutable_hello()->set_version("1.0");
  hello.mutable_hello()->set_cores(8);
  cell.hub().OnConnect(9, hello, "");
  cell.Tasks(9, {"a/1"});
  pb::FromAgent beat;
  beat.mutable_heartbeat()->set_queued_bytes(17);
  beat.mutable_heartbeat()->set_cpu_share(0.002);
  cell.hub().OnMessage(9, beat);
  cell.steady_s = cell.steady_s + 4;
  const std::vector<AgentView> agents = cell.hub().Agents().known;
  ASSERT_EQ(agents.size(), 1U);
  EXPECT_EQ(agents[0].version, "1.0");
  EXPECT_EQ(agents[0].cores, 8);
  EXPECT_EQ(agents[0].queued_bytes, 17U);
  EXPECT_EQ(agents[0].heard_s, 4);
  EXPECT_EQ(cell.hub().counts().tasks, 1U);
  cell.hub().OnDisconnect(9);
  EXPECT_FALSE(cell.hub().Agents().known[0].connected);
}

}  // namespace
}  // namespace taut::server
