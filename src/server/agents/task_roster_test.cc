// Who has which task, as values: no server, no streams.
#include "server/agents/task_roster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace taut::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Name = TaskRoster::Name;

const Name kWeb{"shop/web", "1"}, kDb{"shop/db", "1"};

TaskRoster::Task TaskOf(const std::string& agent, SessionId session, bool managed = true) {
  return {agent, session, {JobId{3}, 7}, managed};
}

TEST(TaskRoster, ATaskIsTheAgentsThatAnnouncedIt) {
  TaskRoster roster;
  roster.Connect("a", 1);
  roster.Connect("b", 2);
  EXPECT_TRUE(roster.MayReport("b", kWeb, 0)) << "no agent has it";
  EXPECT_TRUE(roster.Announce(kWeb, TaskOf("a", 1), 0));
  EXPECT_TRUE(roster.MayReport("a", kWeb, 0));
  EXPECT_FALSE(roster.MayReport("b", kWeb, 0));
  EXPECT_TRUE(roster.IsManaged(kWeb));
  EXPECT_FALSE(roster.IsManaged(kDb));
  EXPECT_THAT(roster.TasksOfAgent("a"), ElementsAre(kWeb));
  EXPECT_EQ(roster.TasksOfJob("shop/web").at("1").session, 1U);
  EXPECT_TRUE(roster.TasksOfJob("shop/db").empty());
}

TEST(TaskRoster, AClaimHoldsWhenTheOwnerIsAwayForLong) {
  TaskRoster roster;
  roster.Connect("a", 1);
  roster.Connect("b", 2);
  roster.Announce(kWeb, TaskOf("a", 1), 0);
  EXPECT_FALSE(roster.Announce(kWeb, TaskOf("b", 2), 0));
  EXPECT_THAT(roster.TasksOfAgent("b"), IsEmpty());
  roster.MarkSent(kWeb);
  roster.Disconnect("a", 1000);
  roster.Settle(1000 + TaskRoster::kGraceSeconds - 1);
  EXPECT_EQ(roster.Find(kWeb)->agent, "a") << "it may come back";
  roster.Settle(1000 + TaskRoster::kGraceSeconds);
  EXPECT_EQ(roster.Find(kWeb)->agent, "b");
  EXPECT_THAT(roster.TasksOfAgent("a"), IsEmpty());
  EXPECT_THAT(roster.TasksOfAgent("b"), ElementsAre(kWeb));
  EXPECT_THAT(roster.unsent(), ElementsAre(kWeb));
}

TEST(TaskRoster, ARestartOfAnAgentGivesItsTasksToNoOther) {
  TaskRoster roster;
  roster.Connect("a", 1);
  roster.Connect("b", 2);
  roster.Announce(kWeb, TaskOf("a", 1), 0);
  roster.Announce(kWeb, TaskOf("b", 2), 0);
  roster.Disconnect("a", 1000);
  EXPECT_FALSE(roster.MayReport("b", kWeb, 1030));
  EXPECT_FALSE(roster.Announce(kWeb, TaskOf("b", 2), 1030));
  roster.Connect("a", 3);
  EXPECT_TRUE(roster.Announce(kWeb, TaskOf("a", 3), 1060));
  roster.Settle(2000);
  EXPECT_EQ(roster.Find(kWeb)->agent, "a");
}

TEST(TaskRoster, AClaimOfAStreamThatIsOverDoesNotHold) {
  TaskRoster roster;
  roster.Connect("a", 1);
  roster.Connect("b", 2);
  roster.Announce(kWeb, TaskOf("a", 1), 0);
  roster.Announce(kWeb, TaskOf("b", 2), 0);
  roster.Disconnect("b", 0);
  roster.Connect("b", 3);
  EXPECT_TRUE(roster.Drop("a", kWeb));
  EXPECT_EQ(roster.Find(kWeb), nullptr);
}

TEST(TaskRoster, ATaskOfADisconnectedAgentGoesToTheNextThatAnnouncesIt) {
  TaskRoster roster;
  roster.Connect("a", 1);
  roster.Announce(kWeb, TaskOf("a", 1), 0);
  roster.Disconnect("a", 0);
  EXPECT_EQ(roster.Find(kWeb)->session, 0U);
  EXPECT_EQ(roster.Find(kWeb)->agent, "a");
  roster.Connect("b", 2);
  EXPECT_TRUE(roster.Announce(kWeb, TaskOf("b", 2), TaskRoster::kGraceSeconds));
  EXPECT_THAT(roster.TasksOfAgent("a"), IsEmpty());
  EXPECT_FALSE(roster.Drop("a", kWeb)) << "it is another's now";
  EXPECT_EQ(roster.Find(kWeb)->agent, "b");
}

TEST(TaskRoster, WhatHoldsIsSentOnceUntilItChanges) {
  TaskRoster roster;
  roster.Connect("a", 1);
  roster.Announce(kWeb, TaskOf("a", 1), 0);
  roster.Announce(kDb, TaskOf("a", 1), 0);
  EXPECT_THAT(roster.unsent(), ElementsAre(kDb, kWeb));
  roster.MarkSent(kWeb);
  roster.MarkSent(kDb);
  roster.Announce(kWeb, TaskOf("a", 1), 0);
  EXPECT_THAT(roster.unsent(), IsEmpty()) << "announced again, nothing is new";
  roster.Announce(kWeb, TaskOf("a", 1, false), 0);
  EXPECT_THAT(roster.unsent(), ElementsAre(kWeb)) << "not managed any more";
  roster.MarkSent(kWeb);
  roster.MarkUnsent("shop/db");
  EXPECT_THAT(roster.unsent(), ElementsAre(kDb));
  roster.MarkUnsent("");
  EXPECT_THAT(roster.unsent(), ElementsAre(kDb, kWeb));
  roster.Drop("a", kDb);
  EXPECT_THAT(roster.unsent(), ElementsAre(kWeb));
}

}  // namespace
}  // namespace taut::server
