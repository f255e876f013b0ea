// Tests which identity an agent may claim, which tasks it may report, and which of its reports are trusted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/agents/hub_fixture.h"
#include "server/agents/machine_bounds.h"

namespace taut::server {
namespace {

namespace pb = taut::agent::v1;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

pb::FromAgent Hello(const std::string& agent, const std::string& machine, uint64_t queue) {
  pb::FromAgent hello = HelloOf(agent, queue);
  hello.mutable_hello()->set_machine(machine);
  hello.mutable_hello()->set_cores(8);
  hello.mutable_hello()->set_memory_bytes(64e9);
  return hello;
}

TEST(AgentIdentity, ACertificateSpeaksForItsNamesOnly) {
  HubCell cell;
  cell.hub().OnConnect(101, Hello("node-a", "m1", 1), "other\nnode-a");
  EXPECT_EQ(cell.hub().counts().connected, 1U);
  cell.hub().OnConnect(102, Hello("node-a", "m1", 1), "node-b\nnode-b.example");
  EXPECT_THAT(cell.server.closed(), ElementsAre(102));
  EXPECT_EQ(cell.hub().counts().refused_agents, 1U);
  ASSERT_EQ(cell.hub().Agents().refused.size(), 1U);
  EXPECT_THAT(cell.hub().Agents().refused[0].why, HasSubstr("the certificate is for node-b"));
  EXPECT_EQ(cell.hub().counts().connected, 1U) << "the first is still there";
}

TEST(AgentIdentity, ANameBelongsToTheMachineThatUsedItFirst) {
  HubCell cell;
  cell.hub().OnConnect(101, Hello("node-a", "m1", 1), "");
  cell.hub().OnConnect(102, Hello("node-a", "m2", 2), "");
  EXPECT_THAT(cell.server.closed(), ElementsAre(102)) << "the first is connected";
  // The same machine connects with another queue, and then again with this queue.
  cell.hub().OnConnect(103, Hello("node-a", "m1", 3), "");
  cell.hub().OnConnect(104, Hello("node-a", "m1", 3), "");
  EXPECT_THAT(cell.server.closed(), ElementsAre(102, 101, 103));
  cell.hub().OnDisconnect(104);
  cell.steady_s = cell.steady_s + 60;
  cell.hub().OnConnect(105, Hello("node-a", "m2", 2), "");
  EXPECT_THAT(cell.server.closed(), ElementsAre(102, 101, 103, 105)) << "the name is not free yet";
  cell.steady_s = cell.steady_s + 900;
  cell.hub().OnConnect(106, Hello("node-a", "m2", 2), "");
  EXPECT_EQ(cell.server.closed().size(), 4U);
  EXPECT_EQ(cell.hub().counts().connected, 1U);
}

TEST(AgentIdentity, ATaskOfAConnectedAgentIsNotTakenOver) {
  HubCell cell;
  cell.hub().OnConnect(101, Hello("node-a", "m1", 1), "");
  cell.hub().OnConnect(102, Hello("node-b", "m2", 2), "");
  cell.Tasks(101, {"web-1"});
  cell.Tasks(102, {"web-1"});
  ASSERT_TRUE(cell.Tick().ok());
  EXPECT_EQ(cell.hub().counts().not_believed, 1U);
  cell.hub().Apply(std::vector{TargetOrder{5, "shop/web", Resource::kMemory, 1e8, std::nullopt}}, 0);
  EXPECT_EQ(cell.server.Orders(101).size(), 1U);
  EXPECT_THAT(cell.server.Orders(102), IsEmpty());
  // The windows and kills of the rejected agent do not count either.
  cell.Windows(102, 1, HubCell::Window(0), {"web-1"}, 3e10);
  cell.Oom(102, 2, "web-1", HubCell::kStart + 10);
  ASSERT_TRUE(cell.TickPast(HubCell::Window(0)).ok());
  EXPECT_THAT(cell.StoredTasks(), IsEmpty());
  EXPECT_EQ(cell.StoredOoms(), 0U);
  EXPECT_EQ(cell.hub().counts().not_believed, 3U);
  // Another agent may announce the task once the task's agent has been disconnected for kGraceSeconds.
  cell.hub().OnDisconnect(101);
  cell.Tasks(102, {"web-1"});
  EXPECT_EQ(cell.hub().counts().not_believed, 4U) << "its agent may only restart";
  cell.steady_s = cell.steady_s + AgentTable::kGraceSeconds;
  cell.Tasks(102, {"web-1"});
  cell.hub().Apply(std::vector{TargetOrder{6, "shop/web", Resource::kMemory, 1e8, std::nullopt}}, 0);
  EXPECT_EQ(cell.server.Orders(102).back().decision(), 6U);
}

TEST(AgentIdentity, NothingAboveTheMachinesSizeIsBelievedOrOrdered) {
  HubCell cell;
  cell.hub().OnConnect(101, Hello("node-a", "m1", 1), "");
  cell.Tasks(101, {"web-1"});
  ASSERT_TRUE(cell.Tick().ok());
  cell.Windows(101, 1, HubCell::Window(0), {"web-1"}, 1e15);
  pb::FromAgent oom;
  oom.set_sequence(2);
  oom.mutable_oom()->mutable_name()->set_job("shop/web");
  oom.mutable_oom()->mutable_name()->set_task("web-1");
  oom.mutable_oom()->set_time_us((HubCell::kStart + 5) * kMicrosPerSecond);
  oom.mutable_oom()->set_limit_bytes(1e15);
  cell.hub().OnMessage(101, oom);
  ASSERT_TRUE(cell.TickPast(HubCell::Window(0)).ok());
  EXPECT_THAT(cell.StoredTasks(), IsEmpty());
  EXPECT_EQ(cell.StoredOoms(), 0U);
  EXPECT_EQ(cell.hub().counts().not_believed, 2U);
  EXPECT_EQ(cell.server.Acked(101), 2U) << "it is not sent again and again";
  cell.hub().Apply(std::vector{TargetOrder{5, "shop/web", Resource::kMemory, 1.2e15, std::nullopt}}, 0);
  ASSERT_FALSE(cell.server.Orders(101).empty());
  EXPECT_EQ(cell.server.Orders(101).back().limit(), 64e9);
}

TEST(AgentIdentity, AgentsThatAreAwayAreKnownAfterARestart) {
  HubCell cell;
  cell.hub().OnConnect(101, Hello("node-a", "m1", 1), "");
  cell.Tasks(101, {"web-1"});
  cell.Live(101, {"web-1"}, 0, 2);
  cell.Restart();
  ASSERT_EQ(cell.hub().Agents().known.size(), 1U);
  const AgentView a = cell.hub().Agents().known[0];
  EXPECT_EQ(a.name, "node-a");
  EXPECT_EQ(a.host, "node-a");
  EXPECT_FALSE(a.connected);
  EXPECT_GT(a.heard_at_s, HubCell::kStart - 3600);
  EXPECT_GE(a.heard_s, 0);
  EXPECT_EQ(cell.hub().counts().agents, 1U);
  EXPECT_EQ(cell.hub().counts().connected, 0U);
  // The name still belongs to the first machine.
  cell.hub().OnConnect(102, Hello("node-a", "m2", 2), "");
  EXPECT_EQ(cell.hub().counts().connected, 0U);
  cell.hub().OnConnect(103, Hello("node-a", "m1", 1), "");
  EXPECT_EQ(cell.hub().counts().connected, 1U);
}

TEST(AgentIdentity, NoMachineHasAPetabyte) {
  HubCell cell;
  pb::FromAgent hello = Hello("node-a", "m1", 1);
  hello.mutable_hello()->set_memory_bytes(1e15);
  cell.hub().OnConnect(101, hello, "");
  EXPECT_THAT(cell.server.closed(), ElementsAre(101));
}

TEST(AgentIdentity, MachinesOfUnknownSizeHaveBoundsToo) {
  pb::TaskWindow w;
  w.set_cpu_mean_cores(8);
  w.set_memory_peak_bytes(1e9F);
  EXPECT_TRUE(FitsMachine(w, pb::Hello()));
  w.set_memory_peak_bytes(1e15F);
  EXPECT_FALSE(FitsMachine(w, pb::Hello()));
}

}  // namespace
}  // namespace taut::server
