// Tests of the amounts of memory that tasks need, as probed by agents.
#include <gtest/gtest.h>

#include "server/agents/hub_fixture.h"

namespace taut::server {
namespace {

namespace pb = taut::agent::v1;

pb::FromAgent Needs(uint64_t sequence, WindowId window,
                    const std::vector<std::pair<std::string, double>>& tasks,
                    const std::string& job = "shop/web") {
  std::vector<std::string> names;
  for (const auto& [name, bytes] : tasks) names.push_back(name);
  pb::FromAgent message = HubCell::WindowsOf(sequence, window, names, 1e8, job);
  for (int i = 0; i < message.windows().tasks_size(); ++i) {
    const double bytes = tasks[static_cast<size_t>(i)].second;
    if (bytes > 0)
      message.mutable_windows()->mutable_tasks(i)->set_memory_needed_bytes(static_cast<float>(bytes));
  }
  return message;
}

std::optional<NeededMemory> NeededBy(const AgentHub& hub, const std::string& job) {
  const std::map<std::string, NeededMemory> by_job = hub.MemoryNeeded(job);
  return by_job.empty() ? std::nullopt : std::optional(by_job.at(job));
}

TEST(AgentNeeded, TheLargestNeedOfAJobsTasksAsOfTheirLastWindow) {
  HubCell cell;
  const SessionId a = cell.Connect("a"), b = cell.Connect("b");
  cell.Windows(a, 1, HubCell::Window(0), {"a/1"});
  EXPECT_EQ(NeededBy(cell.hub(), "shop/web"), std::nullopt) << "not probed is not 0";
  cell.hub().OnMessage(a, Needs(2, HubCell::Window(1), {{"a/1", 2e8}, {"a/2", 0}}));
  cell.hub().OnMessage(b, Needs(1, HubCell::Window(1), {{"b/1", 3e8}}));
  cell.hub().OnMessage(b, Needs(2, HubCell::Window(1), {{"b/2", 1e8}}, "other"));
  EXPECT_EQ(NeededBy(cell.hub(), "shop/web"), (NeededMemory{3e8, 2, HubCell::EndOf(HubCell::Window(1))}));
  EXPECT_EQ(NeededBy(cell.hub(), "other"), (NeededMemory{1e8, 1, HubCell::EndOf(HubCell::Window(1))}));
  EXPECT_EQ(cell.hub().MemoryNeeded().size(), 2U);
  // The task of b is no longer probed, and an older window does not count.
  cell.hub().OnMessage(b, Needs(3, HubCell::Window(2), {{"b/1", 0}}));
  cell.hub().OnMessage(b, Needs(4, HubCell::Window(0), {{"b/1", 9e8}}));
  EXPECT_EQ(NeededBy(cell.hub(), "shop/web"), (NeededMemory{2e8, 1, HubCell::EndOf(HubCell::Window(1))}));
  EXPECT_EQ(NeededBy(cell.hub(), "other"), std::nullopt);
  cell.steady_s = cell.steady_s + 3601;
  EXPECT_EQ(NeededBy(cell.hub(), "shop/web"), std::nullopt) << "the agent has been disconnected for long";
}

TEST(AgentNeeded, WhatNoMachineHasIsNotBelieved) {
  HubCell cell;
  const SessionId a = cell.Connect("a");
  cell.hub().OnMessage(a, Needs(1, HubCell::Window(0), {{"a/1", 1e18}}));
  EXPECT_EQ(NeededBy(cell.hub(), "shop/web"), std::nullopt);
}

// The amount from which limits are computed is stored with the window. An agent of an earlier version does not
// send this amount.
TEST(AgentNeeded, TheNeedOfTheWholeWindowIsStoredWithIt) {
  HubCell cell;
  const SessionId a = cell.Connect("a");
  pb::FromAgent message = Needs(1, HubCell::Window(0), {{"a/1", 2e7}, {"a/2", 3e7}});
  message.mutable_windows()->mutable_tasks(0)->set_memory_needed_peak_bytes(4e7F);
  cell.hub().OnMessage(a, message);
  ASSERT_TRUE(cell.TickPast(HubCell::Window(0)).ok());
  const auto stored = cell.StoredTasks();
  ASSERT_EQ(stored.size(), 1U);
  ASSERT_EQ(stored.begin()->second.size(), 2U);
  EXPECT_EQ(stored.begin()->second[0].memory_needed_bytes, 4e7F);
  EXPECT_EQ(stored.begin()->second[1].memory_needed_bytes, kAbsent);
  // A window in two parts, as after a restart of its agent, has a need only if both parts have a need.
  pb::FromAgent first = Needs(2, HubCell::Window(1), {{"a/1", 0}, {"a/2", 0}});
  pb::FromAgent second = Needs(3, HubCell::Window(1), {{"a/1", 0}, {"a/2", 0}});
  for (int i = 0; i < 2; ++i) first.mutable_windows()->mutable_tasks(i)->set_memory_needed_peak_bytes(4e7F);
  second.mutable_windows()->mutable_tasks(0)->set_memory_needed_peak_bytes(6e7F);
  cell.hub().OnMessage(a, first);
  cell.hub().OnMessage(a, second);
  ASSERT_TRUE(cell.TickPast(HubCell::Window(1)).ok());
  const auto both = cell.StoredTasks().at(HubCell::Window(1).index);
  EXPECT_EQ(both[0].memory_needed_bytes, 6e7F);
  EXPECT_EQ(both[1].memory_needed_bytes, kAbsent);
}

}  // namespace
}  // namespace taut::server
