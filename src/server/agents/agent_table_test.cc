// Tests to which agent each task belongs. Uses plain values, without a server or streams.
#include "server/agents/agent_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace taut::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Name = AgentTable::Name;

const Name kWeb{"shop/web", "1"}, kDb{"shop/db", "1"};

AgentTable::Task TaskOf(const std::string& agent, SessionId session, bool managed = true) {
  return {agent, session, {JobId{3}, 7}, managed};
}

TEST(AgentTable, ATaskIsTheAgentsThatAnnouncedIt) {
  AgentTable table;
  table.Connect("a", 1);
  table.Connect("b", 2);
  EXPECT_TRUE(table.MayReport("b", kWeb, 0)) << "no agent has it";
  EXPECT_TRUE(table.Announce(kWeb, TaskOf("a", 1), 0));
  EXPECT_TRUE(table.MayReport("a", kWeb, 0));
  EXPECT_FALSE(table.MayReport("b", kWeb, 0));
  EXPECT_TRUE(table.IsManaged(kWeb));
  EXPECT_FALSE(table.IsManaged(kDb));
  EXPECT_THAT(table.TasksOfAgent("a"), ElementsAre(kWeb));
  EXPECT_EQ(table.TasksOfJob("shop/web").at("1").session, 1U);
  EXPECT_TRUE(table.TasksOfJob("shop/db").empty());
}

TEST(AgentTable, AClaimHoldsWhenTheOwnerIsAwayForLong) {
  AgentTable table;
  table.Connect("a", 1);
  table.Connect("b", 2);
  table.Announce(kWeb, TaskOf("a", 1), 0);
  EXPECT_FALSE(table.Announce(kWeb, TaskOf("b", 2), 0));
  EXPECT_THAT(table.TasksOfAgent("b"), IsEmpty());
  table.MarkSent(kWeb);
  table.Disconnect("a", 1000);
  table.Settle(1000 + AgentTable::kGraceSeconds - 1);
  EXPECT_EQ(table.Find(kWeb)->agent, "a") << "it may come back";
  table.Settle(1000 + AgentTable::kGraceSeconds);
  EXPECT_EQ(table.Find(kWeb)->agent, "b");
  EXPECT_THAT(table.TasksOfAgent("a"), IsEmpty());
  EXPECT_THAT(table.TasksOfAgent("b"), ElementsAre(kWeb));
  EXPECT_THAT(table.unsent(), ElementsAre(kWeb));
}

TEST(AgentTable, ARestartOfAnAgentGivesItsTasksToNoOther) {
  AgentTable table;
  table.Connect("a", 1);
  table.Connect("b", 2);
  table.Announce(kWeb, TaskOf("a", 1), 0);
  table.Announce(kWeb, TaskOf("b", 2), 0);
  table.Disconnect("a", 1000);
  EXPECT_FALSE(table.MayReport("b", kWeb, 1030));
  EXPECT_FALSE(table.Announce(kWeb, TaskOf("b", 2), 1030));
  table.Connect("a", 3);
  EXPECT_TRUE(table.Announce(kWeb, TaskOf("a", 3), 1060));
  table.Settle(2000);
  EXPECT_EQ(table.Find(kWeb)->agent, "a");
}

TEST(AgentTable, AClaimOfAStreamThatIsOverDoesNotHold) {
  AgentTable table;
  table.Connect("a", 1);
  table.Connect("b", 2);
  table.Announce(kWeb, TaskOf("a", 1), 0);
  table.Announce(kWeb, TaskOf("b", 2), 0);
  table.Disconnect("b", 0);
  table.Connect("b", 3);
  EXPECT_TRUE(table.Drop("a", kWeb));
  EXPECT_EQ(table.Find(kWeb), nullptr);
}

TEST(AgentTable, ATaskOfADisconnectedAgentGoesToTheNextThatAnnouncesIt) {
  AgentTable table;
  table.Connect("a", 1);
  table.Announce(kWeb, TaskOf("a", 1), 0);
  table.Disconnect("a", 0);
  EXPECT_EQ(table.Find(kWeb)->session, 0U);
  EXPECT_EQ(table.Find(kWeb)->agent, "a");
  table.Connect("b", 2);
  EXPECT_TRUE(table.Announce(kWeb, TaskOf("b", 2), AgentTable::kGraceSeconds));
  EXPECT_THAT(table.TasksOfAgent("a"), IsEmpty());
  EXPECT_FALSE(table.Drop("a", kWeb)) << "it is another's now";
  EXPECT_EQ(table.Find(kWeb)->agent, "b");
}

TEST(AgentTable, WhatHoldsIsSentOnceUntilItChanges) {
  AgentTable table;
  table.Connect("a", 1);
  table.Announce(kWeb, TaskOf("a", 1), 0);
  table.Announce(kDb, TaskOf("a", 1), 0);
  EXPECT_THAT(table.unsent(), ElementsAre(kDb, kWeb));
  table.MarkSent(kWeb);
  table.MarkSent(kDb);
  table.Announce(kWeb, TaskOf("a", 1), 0);
  EXPECT_THAT(table.unsent(), IsEmpty()) << "announced again, nothing is new";
  table.Announce(kWeb, TaskOf("a", 1, false), 0);
  EXPECT_THAT(table.unsent(), ElementsAre(kWeb)) << "not managed any more";
  table.MarkSent(kWeb);
  table.MarkUnsent("shop/db");
  EXPECT_THAT(table.unsent(), ElementsAre(kDb));
  table.MarkUnsent("");
  EXPECT_THAT(table.unsent(), ElementsAre(kDb, kWeb));
  table.Drop("a", kDb);
  EXPECT_THAT(table.unsent(), ElementsAre(kWeb));
}

}  // namespace
}  // namespace taut::server
