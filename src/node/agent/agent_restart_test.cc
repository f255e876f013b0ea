// Tests state that must outlive a restart of the agent: the owner's values after every step, the terms, the
// agent's raises, and the owner's own changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "common/testing/temp_dir.h"
#include "node/agent/agent_fixture.h"
#include "node/agent/release.h"

namespace taut::node {
namespace {

namespace pb = taut::agent::v1;
using ::testing::HasSubstr;

class AgentRestart : public ::testing::Test {
 protected:
  AgentRestart() { cell_.ledger = *Ledger::Open(path_); }
  // Kills the agent, so that only the ledger's file remains, waits `seconds`, and starts a new agent.
  void Restart(int seconds = 10) {
    cell_.agent.reset();
    cell_.ledger = *Ledger::Open(path_);
    cell_.now.at.us += seconds * kMicrosPerSecond;
    cell_.now.steady_us += seconds * kMicrosPerSecond;
    cell_.uplink.to_agent.clear();
    cell_.Start();
    cell_.Run(6);
  }
  InMemoryTask& Started(double memory, std::optional<double> cores, double uses) {
    cell_.Start();
    InMemoryTask& a = cell_.Add("shop/web", "a", uses, 1);
    a.limits.memory_max_bytes = memory;
    a.limits.cpu_max_cores = cores;
    cell_.Terms("shop/web", true);
    cell_.Run(3);
    return a;
  }

  AgentCell cell_;
  const TempDir dir_;
  const std::string directory_ = dir_.path(), path_ = dir_.File("ledger");
};

// Kills the agent before or after each write to the kernel, while one limit or both limits of the task move.
TEST_F(AgentRestart, AKillBetweenAnyTwoWritesKeepsTheOwnersLimits) {
  cell_.options.rules[0].memory = MemoryStyle::kSoft;
  InMemoryTask& a = Started(256 * kMiB, 2.0, 20 * kMiB);
  struct Moment {
    std::string ledger;
    TaskLimits limits;
  };
  std::vector<Moment> moments;
  const FoundTask found = a.found;
  a.around_write = [&] {
    const auto file = Ledger::Open(path_);
    ASSERT_TRUE(file.ok());
    moments.push_back({Ledger::Text({file->entries(), file->terms(), file->acts()}), a.limits});
  };
  cell_.Order(a, Resource::kMemory, 64 * kMiB, 1);
  cell_.Order(a, Resource::kCpu, 0.5, 2);
  cell_.Run(30);
  *a.reading.oom_kills += 1;
  cell_.Run(10);
  cell_.Order(a, Resource::kCpu, 0.25, 3);
  cell_.Order(a, Resource::kMemory, std::nullopt, 4);
  cell_.Run(10);
  ASSERT_EQ(a.limits.memory_max_bytes, 256 * kMiB);
  ASSERT_GT(moments.size(), 25U);
  for (const Moment& moment : moments) {
    std::ofstream(directory_ + "/killed") << moment.ledger;
    Ledger ledger = *Ledger::Open(directory_ + "/killed");
    InMemoryTasks tasks;
    InMemoryTask& task = tasks.Add(found.job, found.task, found.identity);
    task.limits = moment.limits;
    std::vector<TaskFinder*> finders = {&tasks};
    InMemoryProcesses processes;
    for (const Released& r : Release(ledger, finders, processes)) EXPECT_TRUE(r.ok) << r.text;
    EXPECT_EQ(task.limits.memory_max_bytes, 256 * kMiB) << moment.ledger;
    EXPECT_EQ(task.limits.memory_high_bytes, std::nullopt) << moment.ledger;
    EXPECT_EQ(task.limits.cpu_max_cores, 2.0) << moment.ledger;
  }
}

TEST_F(AgentRestart, AKillBetweenTwoStepsIsNobodyElsesChange) {
  InMemoryTask& a = Started(256 * kMiB, std::nullopt, 20 * kMiB);
  std::string ledger;
  a.around_write = [&] {
    if (a.writes.size() == 3 && ledger.empty()) {
      const auto file = Ledger::Open(path_);
      ledger = Ledger::Text({file->entries(), file->terms(), file->acts()});
      a.limits.cpu_weight = 1;  // marks the moment of a save
    }
  };
  cell_.Order(a, Resource::kMemory, 64 * kMiB, 1);
  cell_.Run(10);
  ASSERT_FALSE(ledger.empty());
  const double then = 256 * kMiB * 0.8 * 0.8 * 0.8;
  a.around_write = nullptr;
  a.limits.memory_max_bytes = then;
  std::ofstream(path_) << ledger;
  Restart();
  EXPECT_EQ(cell_.agent->counts().foreign_changes, 0U);
  EXPECT_EQ(cell_.uplink.Tasks().back().started(0).owner_memory_bytes(), 256 * kMiB);
}

TEST_F(AgentRestart, KillsRaiseLimitsWithoutTheDaemon) {
  InMemoryTask& a = Started(256 * kMiB, std::nullopt, 50 * kMiB);
  cell_.Terms("shop/web", true).set_memory_upper_bytes(150 * kMiB);
  cell_.Order(a, Resource::kMemory, 64 * kMiB, 1);
  cell_.Run(30);
  ASSERT_EQ(a.limits.memory_max_bytes, 64 * kMiB);
  Restart();
  *a.reading.oom_kills += 1;
  cell_.Run(10);
  EXPECT_EQ(a.limits.memory_max_bytes, 150 * kMiB) << "up to the job's upper bound";
  EXPECT_EQ(cell_.agent->counts().local_raises, 1U);
  // The withdrawal of the terms is stored as well.
  cell_.Terms("shop/web", false);
  cell_.Run(1);
  Restart();
  *a.reading.oom_kills += 1;
  cell_.Run(10);
  EXPECT_EQ(a.limits.memory_max_bytes, 150 * kMiB);
}

TEST_F(AgentRestart, TheStartupGraceOfAJobHoldsWithoutTheDaemon) {
  cell_.options.rules[0].startup_grace_s.reset();
  cell_.Start();
  cell_.Run(1);
  InMemoryTask& a = cell_.Add("shop/web", "a", 20 * kMiB, 1);
  a.limits.memory_max_bytes = 256 * kMiB;
  a.started_s = cell_.now.at.seconds();
  cell_.Terms("shop/web", true).set_startup_grace_s(900);
  cell_.Run(6);
  Restart(400);
  cell_.Order(a, Resource::kMemory, 64 * kMiB, 1);  // before the terms arrive again
  cell_.Run(400);
  EXPECT_EQ(a.limits.memory_max_bytes, 256 * kMiB);
  cell_.Run(150);
  EXPECT_EQ(a.limits.memory_max_bytes, 64 * kMiB);
}

TEST_F(AgentRestart, RaisesOutliveIt) {
  InMemoryTask& a = Started(1024 * kMiB, 2.0, 50 * kMiB);
  const int64_t decided_s = cell_.now.at.seconds();
  cell_.Order(a, Resource::kCpu, 0.25, 1);
  cell_.Order(a, Resource::kMemory, 64 * kMiB, 2);
  cell_.Run(60);
  *a.reading.cpu_throttled_periods += 50;
  *a.reading.oom_kills += 1;
  cell_.Run(10);
  ASSERT_EQ(a.limits.cpu_max_cores, 0.3125);
  ASSERT_EQ(a.limits.memory_max_bytes, 1024 * kMiB) << "the owner's limit is the first answer";
  Restart();
  // The daemon resends its orders.
  cell_.Order(a, Resource::kCpu, 0.25, 1).set_decided_s(decided_s);
  cell_.Order(a, Resource::kMemory, 64 * kMiB, 2).set_decided_s(decided_s);
  cell_.Run(60);
  EXPECT_EQ(a.limits.cpu_max_cores, 0.3125);
  EXPECT_EQ(a.limits.memory_max_bytes, 1024 * kMiB);
  EXPECT_THAT(cell_.LastOutcome(1)->text(), HasSubstr("throttling"));
  // The hold ends at the same time as before the restart.
  cell_.now.at.us += 3600 * kMicrosPerSecond;
  cell_.now.steady_us += 3600 * kMicrosPerSecond;
  cell_.Run(3);
  EXPECT_EQ(a.limits.cpu_max_cores, 0.25);
}

TEST_F(AgentRestart, AnOwnersChangeOfBeforeIsStillRespected) {
  InMemoryTask& a = Started(256 * kMiB, 2.0, 50 * kMiB);
  const int64_t decided_s = cell_.now.at.seconds();
  cell_.Order(a, Resource::kCpu, 0.25, 1);
  cell_.Run(10);
  a.limits.cpu_max_cores = 1.5;
  a.limits.memory_max_bytes = 300 * kMiB;  // a value that the agent never set
  cell_.Run(60);
  ASSERT_EQ(cell_.agent->counts().foreign_changes, 1U);
  Restart();
  cell_.Order(a, Resource::kCpu, 0.25, 1).set_decided_s(decided_s);
  cell_.Order(a, Resource::kMemory, 64 * kMiB, 2).set_decided_s(decided_s);
  cell_.Run(60);
  EXPECT_EQ(a.limits.cpu_max_cores, 1.5);
  EXPECT_EQ(a.limits.memory_max_bytes, 300 * kMiB);
  EXPECT_EQ(cell_.uplink.Tasks().back().started(0).owner_cpu_cores(), 1.5);
}

// A limit that the owner restored by hand while the agent was stopped is the owner's change as well.
TEST_F(AgentRestart, TheOwnersLimitPutBackIsRespected) {
  InMemoryTask& a = Started(256 * kMiB, 2.0, 50 * kMiB);
  const int64_t decided_s = cell_.now.at.seconds();
  cell_.Order(a, Resource::kCpu, 0.25, 1);
  cell_.Run(10);
  a.limits.cpu_max_cores = 2.0;
  Restart();
  cell_.Order(a, Resource::kCpu, 0.25, 1).set_decided_s(decided_s);
  cell_.Run(30);
  EXPECT_EQ(a.limits.cpu_max_cores, 2.0);
}

// With a period of 10 ms the kernel has no limit below 0.1 cores.
TEST_F(AgentRestart, WhatTheKernelRoundsIsNobodyElsesChange) {
  InMemoryTask& a = Started(256 * kMiB, 2.0, 50 * kMiB);
  a.least_cores = 0.1;
  cell_.Order(a, Resource::kCpu, 0.025, 1);
  cell_.Run(100);
  EXPECT_EQ(a.limits.cpu_max_cores, 0.1);
  EXPECT_EQ(a.writes.size(), 1U);
  EXPECT_EQ(cell_.agent->counts().foreign_changes, 0U);
  EXPECT_EQ(cell_.LastOutcome(1)->result(), pb::Outcome::APPLIED);
  EXPECT_EQ(cell_.LastOutcome(1)->limit(), 0.1) << "what is in force";
  Restart();
  EXPECT_EQ(cell_.agent->counts().foreign_changes, 0U);
  std::vector<TaskFinder*> finders = {&cell_.tasks};
  for (const Released& r : Release(cell_.ledger, finders, cell_.processes)) EXPECT_TRUE(r.ok) << r.text;
  EXPECT_EQ(a.limits.cpu_max_cores, 2.0);
}

}  // namespace
}  // namespace taut::node
