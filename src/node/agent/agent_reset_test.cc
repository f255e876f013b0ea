// Tests limits that the task's service manager resets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "node/agent/tier_fixture.h"

namespace taut::node {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

Strings ActionsOf(AgentCell& cell) {
  Strings out;
  for (const AgentAct& act : cell.agent->TakeActs()) out.emplace_back(act.action);
  return out;
}

class AgentReset : public ::testing::Test {
 protected:
  AgentReset() {
    cell_.Start();
    task_ = &cell_.Add("shop/web", "a", 50 * kMiB);
    task_->limits.cpu_max_cores = 2.0;
    task_->limits.memory_max_bytes = 256 * kMiB;
    task_->may_be_reset = true;
    cell_.Order(*task_, Resource::kCpu, 0.75, 1);
    cell_.Order(*task_, Resource::kMemory, 100 * kMiB, 2);
    cell_.Run(30);
    EXPECT_EQ(task_->limits.cpu_max_cores, 0.75);
    EXPECT_EQ(task_->limits.memory_max_bytes, 100 * kMiB);
    cell_.agent->TakeActs();
  }
  // Writes the owner's values, as a reload of systemd's units does.
  void Reload() {
    task_->limits.cpu_max_cores = 2.0;
    task_->limits.memory_max_bytes = 256 * kMiB;
  }

  AgentCell cell_;
  InMemoryTask* task_;
};

TEST_F(AgentReset, LimitsAreSetAgain) {
  Reload();
  cell_.Run(60);
  EXPECT_EQ(task_->limits.cpu_max_cores, 0.75);
  EXPECT_EQ(task_->limits.memory_max_bytes, 100 * kMiB);
  EXPECT_EQ(cell_.agent->counts().resets, 2U);
  EXPECT_EQ(cell_.agent->counts().foreign_changes, 0U);
  EXPECT_THAT(ActionsOf(cell_), ElementsAre("limit_reset", "limit_reset", "limit_set", "limit_set"));
  const LedgerEntry* const entry = cell_.ledger.Find(task_->found.identity);
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->values.at(LimitKind::kCpuMax).owner, 2.0) << "what --release restores";
}

TEST_F(AgentReset, ARuleThatNoLongerManagesLeavesTheOwnersValue) {
  cell_.options.rules[0].manage = false;
  cell_.Start();
  cell_.Run(10);
  Reload();
  cell_.Run(60);
  EXPECT_EQ(task_->limits.cpu_max_cores, 2.0);
  EXPECT_EQ(task_->limits.memory_max_bytes, 256 * kMiB);
  EXPECT_EQ(cell_.agent->counts().resets, 0U);
}

TEST_F(AgentReset, AnotherValueIsTheOwners) {
  task_->limits.cpu_max_cores = 1.5;
  cell_.Run(60);
  EXPECT_EQ(task_->limits.cpu_max_cores, 1.5);
  EXPECT_EQ(cell_.agent->counts().foreign_changes, 1U);
}

TEST_F(AgentReset, WithoutAServiceManagerTheOwnersValueStays) {
  task_->may_be_reset = false;
  Reload();
  cell_.Run(60);
  EXPECT_EQ(task_->limits.cpu_max_cores, 2.0);
  EXPECT_EQ(cell_.agent->counts().foreign_changes, 2U);
}

TEST_F(AgentReset, AProgramThatInsistsWins) {
  for (int i = 0; i < 40 && cell_.agent->counts().foreign_changes == 0; ++i) {
    task_->limits.cpu_max_cores = 2.0;
    cell_.Run(60);
  }
  EXPECT_EQ(cell_.agent->counts().resets, uint64_t{ResetBudget::kMost});
  EXPECT_EQ(task_->limits.cpu_max_cores, 2.0);
  EXPECT_THAT(ActionsOf(cell_), Contains("owner_changed"));
}

TEST(AgentResetTiers, WhatATierSetsIsSetAgain) {
  TierCell cell;
  cell.options.tiers.cpu_weight[static_cast<size_t>(Tier::kBatch)] = 10;
  cell.Begin();
  InMemoryTask& task = cell.Add("batch/x", "a", 10 * kMiB);
  task.limits.cpu_weight = 100;
  task.may_be_reset = true;
  cell.Run(30);
  ASSERT_EQ(task.limits.cpu_weight, 10);
  task.limits.cpu_weight = 100;
  cell.Run(60);
  EXPECT_EQ(task.limits.cpu_weight, 10);
  EXPECT_EQ(cell.agent->counts().foreign_changes, 0U);
}

}  // namespace
}  // namespace taut::node
