// What tasks need, as agents have probed it.
#include <gtest/gtest.h>

#include "actuate/hub_fixture.h"

namespace taut {
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

TEST(AgentNeeded, TheLargestNeedOfAJobsTasksAsOfTheirLastWindow) {
  HubCell cell;
  const SessionId a = cell.Connect("a"), b = cell.Connect("b");
  cell.Windows(a, 1, HubCell::Window(0), {"a/1"});
  EXPECT_EQ(cell.hub().MemoryNeededBy("shop/web"), std::nullopt) << "not probed is not 0";
  cell.hub().OnMessage(a, Needs(2, HubCell::Window(1), {{"a/1", 2e8}, {"a/2", 0}}));
  cell.hub().OnMessage(b, Needs(1, HubCell::Window(1), {{"b/1", 3e8}}));
  cell.hub().OnMessage(b, Needs(2, HubCell::Window(1), {{"b/2", 1e8}}, "other"));
  EXPECT_EQ(cell.hub().MemoryNeededBy("shop/web"),
            (NeededMemory{3e8, 2, HubCell::EndOf(HubCell::Window(1))}));
  EXPECT_EQ(cell.hub().MemoryNeededBy("other"), (NeededMemory{1e8, 1, HubCell::EndOf(HubCell::Window(1))}));
  EXPECT_EQ(cell.hub().MemoryNeeded().size(), 2U);
  // b's task is not probed any more; an older window says nothing.
  cell.hub().OnMessage(b, Needs(3, HubCell::Window(2), {{"b/1", 0}}));
  cell.hub().OnMessage(b, Needs(4, HubCell::Window(0), {{"b/1", 9e8}}));
  EXPECT_EQ(cell.hub().MemoryNeededBy("shop/web"),
            (NeededMemory{2e8, 1, HubCell::EndOf(HubCell::Window(1))}));
  EXPECT_EQ(cell.hub().MemoryNeededBy("other"), std::nullopt);
  cell.steady_s = cell.steady_s + 3601;
  EXPECT_EQ(cell.hub().MemoryNeededBy("shop/web"), std::nullopt)
      << "the agent has been disconnected for long";
}

TEST(AgentNeeded, WhatNoMachineHasIsNotBelieved) {
  HubCell cell;
  const SessionId a = cell.Connect("a");
  cell.hub().OnMessage(a, Needs(1, HubCell::Window(0), {{"a/1", 1e18}}));
  EXPECT_EQ(cell.hub().MemoryNeededBy("shop/web"), std::nullopt);
}

}  // namespace
}  // namespace taut
