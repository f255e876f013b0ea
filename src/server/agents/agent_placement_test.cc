// Tests that the machine service reads the machines of agents with the tasks that run on them.
#include <gtest/gtest.h>

#include "server/agents/hub_fixture.h"

namespace taut::server {
namespace {

TEST(AgentPlacement, IsAMachineForEachAgentWithItsTasks) {
  HubCell cell;
  const SessionId session = 100;
  taut::agent::v1::FromAgent hello = HelloOf("a");
  hello.mutable_hello()->set_cores(8);
  hello.mutable_hello()->set_memory_bytes(16e9);
  cell.hub().OnConnect(session, hello, "");
  cell.Tasks(session, {"t1", "t2"});
  const SessionId other = cell.Connect("b");
  cell.Tasks(other, {"t3"});

  std::vector<PlacedMachine> machines = cell.hub().Placement();
  ASSERT_EQ(machines.size(), 2U);
  EXPECT_EQ(cell.hub().placement_name(), "agents");
  EXPECT_EQ(machines[0].name, "a");
  EXPECT_EQ(machines[0].capacity, (PlacedAmounts{8, 16e9}));
  EXPECT_EQ(machines[1].capacity, PlacedAmounts{}) << "not said, and not 0";
  ASSERT_EQ(machines[0].tasks.size(), 2U);
  EXPECT_EQ(machines[0].tasks[0].job, "shop/web");
  EXPECT_EQ(machines[0].tasks[0].task, "t1");
  EXPECT_TRUE(machines[0].tasks[0].limits_measured);

  // A disconnected agent keeps its tasks. A task that moves belongs to the agent of its new machine.
  cell.hub().OnDisconnect(other);
  machines = cell.hub().Placement();
  ASSERT_EQ(machines.size(), 2U);
  EXPECT_FALSE(machines[1].ready);
  EXPECT_EQ(machines[1].tasks.size(), 1U);
  cell.Gone(session, "t1");
  EXPECT_EQ(cell.hub().Placement()[0].tasks.size(), 1U);
}

TEST(AgentPlacement, AnAgentThatIsNotBackAfterARestartIsNotThere) {
  HubCell cell;
  cell.Tasks(cell.Connect("a"), {"t1"});
  const std::string state = cell.hub().SaveState();
  cell.Restart();
  cell.hub().LoadState(state);
  EXPECT_EQ(cell.hub().Agents().known.size(), 1U);
  EXPECT_TRUE(cell.hub().Placement().empty()) << "what it has is not known until it is back";
}

}  // namespace
}  // namespace taut::server
