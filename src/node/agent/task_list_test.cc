#include "node/agent/task_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "common/base/byte_units.h"
#include "node/agent/in_memory_tasks.h"

namespace taut::node {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Cells(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> out;
  for (std::string cell; in >> cell;) out.push_back(cell);
  return out;
}

class TaskList : public ::testing::Test {
 protected:
  TaskList() { rule_.manage = true; }
  std::vector<std::string> LineOf(const InMemoryTask& task, bool may_change = true) {
    return Cells(TaskListLine(tasks_, task.found, rule_, tiers_, may_change));
  }

  InMemoryTasks tasks_;
  TaskRule rule_;
  TierOptions tiers_;
};

TEST_F(TaskList, PrintsTheLimitsInForceAndWhoseTheyAre) {
  InMemoryTask& task = tasks_.Add("shop/web", "host/web-1");
  task.reading.memory_bytes = 64 << 20;
  task.limits.cpu_max_cores = 2;
  task.limits.memory_max_bytes = 512 * kMiB;
  EXPECT_THAT(LineOf(task),
              ElementsAre("shop/web", "host/web-1", "2", "512MiB", "64MiB", "yes", "production", "-"));

  task.above = {{.path = "/apps", .memory_max_bytes = 256 * kMiB, .cpu_max_cores = 4, .limit_ooms = {}},
                {.path = "/", .memory_max_bytes = {}, .cpu_max_cores = 1.5, .limit_ooms = {}}};
  EXPECT_THAT(LineOf(task), ElementsAre("shop/web", "host/web-1", "1.5", "256MiB", "64MiB", "yes",
                                        "production", "/,", "/apps"));
  task.above = {{.path = "/a\nb", .memory_max_bytes = 1 * kMiB, .cpu_max_cores = 1, .limit_ooms = {}}};
  EXPECT_EQ(LineOf(task).back(), "/a\\x0ab") << "once for both, and nothing that moves a terminal's cursor";
}

TEST_F(TaskList, WhatCannotBeReadIsAbsent) {
  InMemoryTask& task = tasks_.Add("shop/web", "host/web-1");
  EXPECT_THAT(LineOf(task), ElementsAre("shop/web", "host/web-1", "-", "-", "-", "yes", "production", "-"));
  const FoundTask found = task.found;
  tasks_.Remove(found.identity);
  EXPECT_THAT(Cells(TaskListLine(tasks_, found, rule_, tiers_, true)),
              ElementsAre("shop/web", "host/web-1", "-", "-", "-", "yes", "production", "-"));
}

TEST_F(TaskList, ATaskIsManagedIfItsRuleSaysSoAndTheAgentMay) {
  const InMemoryTask& task = tasks_.Add("a", "b");
  EXPECT_EQ(LineOf(task)[5], "yes");
  EXPECT_EQ(LineOf(task, /*may_change=*/false)[5], "no");
  rule_.manage = false;
  rule_.tier = Tier::kBatch;
  EXPECT_EQ(LineOf(task)[5], "no");
  EXPECT_EQ(LineOf(task)[6], "batch");
}

TEST_F(TaskList, WeightsDescendWithUnmanagedGroupsAmongThem) {
  EXPECT_EQ(WeightsLine(tiers_, false), "");
  tiers_.cpu_weight[static_cast<size_t>(Tier::kProduction)] = 400;
  tiers_.cpu_weight[static_cast<size_t>(Tier::kBatch)] = 20;
  EXPECT_EQ(WeightsLine(tiers_, false), "cpu weights: production 400, unmanaged groups 100, batch 20\n");
  EXPECT_EQ(WeightsLine(tiers_, true),
            "cpu weights: production 400 (cpu.shares 4096), unmanaged groups 100 (cpu.shares 1024), "
            "batch 20 (cpu.shares 205)\n");
}

}  // namespace
}  // namespace taut::node
