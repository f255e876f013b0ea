// Who has which task, as values: no server, no streams.
#include "actuate/task_roster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace taut {
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
  EXPECT_TRUE(roster.MayReport("b", kWeb)) << "no agent has it";
  EXPECT_TRUE(roster.Announce(kWeb, TaskOf("a", 1)));
  EXPECT_TRUE(roster.MayReport("a", kWeb));
  EXPECT_FALSE(roster.MayReport("b", kWeb));
  EXPECT_TRUE(roster.IsManaged(kWeb));
  EXPECT_FALSE(roster.IsManaged(kDb));
  EXPECT_THAT(roster.TasksOfAgent("a"), ElementsAre(kWeb));
  EXPECT_EQ(roster.TasksOfJob("shop/web").at("1").session, 1U);
  EXPECT_TRUE(roster.TasksOfJob("shop/db").empty());
}

TEST(TaskRoster, AClaimHoldsWhenTheOwnerDisconnects) {
  TaskRoster roster;
  roster.Connect("a", 1);
  roster.Connect("b", 2);
  roster.Announce(kWeb, TaskOf("a", 1));
  EXPECT_FALSE(roster.Announce(kWeb, TaskOf("b", 2)));
  EXPECT_THAT(roster.TasksOfAgent("b"), IsEmpty());
  roster.MarkSent(kWeb);
  roster.Disconnect("a");
  EXPECT_EQ(roster.Find(kWeb)->agent, "b");
  EXPECT_THAT(roster.TasksOfAgent("a"), IsEmpty());
  EXPECT_THAT(roster.TasksOfAgent("b"), ElementsAre(kWeb));
  EXPECT_THAT(roster.unsent(), ElementsAre(kWeb));
}

TEST(TaskRoster, AClaimOfAStreamThatIsOverDoesNotHold) {
  TaskRoster roster;
  roster.Connect("a", 1);
  roster.Connect("b", 2);
  roster.Announce(kWeb, TaskOf("a", 1));
  roster.Announce(kWeb, TaskOf("b", 2));
  roster.Disconnect("b");
  roster.Connect("b", 3);
  EXPECT_TRUE(roster.Drop("a", kWeb));
  EXPECT_EQ(roster.Find(kWeb), nullptr);
}

TEST(TaskRoster, ATaskOfADisconnectedAgentGoesToTheNextThatAnnouncesIt) {
  TaskRoster roster;
  roster.Connect("a", 1);
  roster.Announce(kWeb, TaskOf("a", 1));
  roster.Disconnect("a");
  EXPECT_EQ(roster.Find(kWeb)->session, 0U);
  EXPECT_EQ(roster.Find(kWeb)->agent, "a");
  roster.Connect("b", 2);
  EXPECT_TRUE(roster.Announce(kWeb, TaskOf("b", 2)));
  EXPECT_THAT(roster.TasksOfAgent("a"), IsEmpty());
  EXPECT_FALSE(roster.Drop("a", kWeb)) << "it is another's now";
  EXPECT_EQ(roster.Find(kWeb)->agent, "b");
}

TEST(TaskRoster, WhatHoldsIsSentOnceUntilItChanges) {
  TaskRoster roster;
  roster.Connect("a", 1);
  roster.Announce(kWeb, TaskOf("a", 1));
  roster.Announce(kDb, TaskOf("a", 1));
  EXPECT_THAT(roster.unsent(), ElementsAre(kDb, kWeb));
  roster.MarkSent(kWeb);
  roster.MarkSent(kDb);
  roster.Announce(kWeb, TaskOf("a", 1));
  EXPECT_THAT(roster.unsent(), IsEmpty()) << "announced again, nothing is new";
  roster.Announce(kWeb, TaskOf("a", 1, false));
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
}  // namespace taut
