// Bounds of what the agent does with orders, kills and throttling. agent_trouble_test.cc tells the stories.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/agent_fixture.h"

namespace taut {
namespace {

namespace pb = taut::agent::v1;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class AgentLimits : public ::testing::Test {
 protected:
  // A task of 50 MiB and half a core, under terms; `cores` and `memory` are the owner's limits.
  InMemoryTask& Added(std::optional<double> cores, std::optional<double> memory) {
    cell_.Start();
    InMemoryTask& a = cell_.Add("shop/web", "a", 50 * kMiB);
    a.limits.cpu_max_cores = cores;
    a.limits.memory_max_bytes = memory;
    cell_.Terms("shop/web", true);
    cell_.Run(10);
    return a;
  }
  void Throttle(InMemoryTask& task) {
    *task.reading.cpu_throttled_periods += 50;
    cell_.Run(10);
  }
  void Tell(TaskEvent::Kind kind, const std::string& identity) {
    cell_.tasks.events.push_back({kind, identity});
    cell_.agent->OnReady(uint64_t{1} << 62, cell_.now);
  }

  AgentCell cell_;
};

// ---- throttling ----

TEST_F(AgentLimits, ThrottlingIsOfThePeriodsSinceTheLastLook) {
  InMemoryTask& a = Added(std::nullopt, std::nullopt);
  *a.reading.cpu_periods += 1'000'000;
  cell_.Run(10);
  cell_.Order(a, Resource::kCpu, 1.0);
  cell_.Run(1);
  Throttle(a);  // in half of 100 periods
  EXPECT_EQ(a.limits.cpu_max_cores, 1.25);
}

TEST_F(AgentLimits, ThrottlingRaisesToTheLowerOfTheRulesAndTheOwnersBound) {
  for (const double of_rule : {1.05, 1.2}) {
    AgentCell cell;
    cell.options.rules[0].cpu_upper = of_rule;
    cell.Start();
    InMemoryTask& a = cell.Add("shop/web", "a", 50 * kMiB);
    a.limits.cpu_max_cores = 1.1;
    cell.Terms("shop/web", true);
    cell.Run(3);
    cell.Order(a, Resource::kCpu, 1.0);
    cell.Run(1);
    *a.reading.cpu_throttled_periods += 50;
    cell.Run(10);
    EXPECT_EQ(a.limits.cpu_max_cores, std::min(of_rule, 1.1));
  }
}

TEST_F(AgentLimits, WithoutTermsThrottlingRaisesNothing) {
  cell_.Start();
  InMemoryTask& a = cell_.Add("shop/web", "a", 50 * kMiB);
  cell_.Run(3);
  cell_.Order(a, Resource::kCpu, 1.0);
  cell_.Run(10);
  Throttle(a);
  EXPECT_EQ(a.limits.cpu_max_cores, 1.0);
  EXPECT_EQ(cell_.agent->counts().local_raises, 0U);
}

TEST_F(AgentLimits, ThrottlingByAnothersQuotaDoesNotRaiseAWeight) {
  cell_.options.rules[0].cpu = CpuStyle::kSoft;
  InMemoryTask& a = Added(1.0, std::nullopt);
  const size_t writes = a.writes.size();
  Throttle(a);
  EXPECT_EQ(a.writes.size(), writes);
  EXPECT_EQ(cell_.agent->counts().local_raises, 0U);
}

TEST_F(AgentLimits, PeriodsThatAreNotCountedForAWhileRaiseNothing) {
  InMemoryTask& a = Added(std::nullopt, std::nullopt);
  cell_.Order(a, Resource::kCpu, 1.0);
  cell_.Run(10);
  a.reading.cpu_throttled_periods.reset();
  cell_.Run(10);
  a.reading.cpu_throttled_periods = 0;
  cell_.Run(10);
  EXPECT_EQ(a.limits.cpu_max_cores, 1.0);
  Throttle(a);
  EXPECT_EQ(a.limits.cpu_max_cores, 1.25) << "and then as before";
}

// ---- kills ----

TEST_F(AgentLimits, KillsAreThoseSinceTheLastReading) {
  cell_.Start();
  InMemoryTask& a = cell_.Add("shop/web", "a", 50 * kMiB);
  a.reading.oom_kills = 5;
  cell_.Run(10);
  *a.reading.oom_kills += 2;
  cell_.Run(10);
  ASSERT_EQ(cell_.uplink.Ooms().size(), 1U);
  EXPECT_EQ(cell_.uplink.Ooms()[0].kills(), 2U);
}

TEST_F(AgentLimits, WithoutACounterTheEngineSaysSo) {
  cell_.Start();
  InMemoryTask& a = cell_.Add("shop/web", "a", 50 * kMiB);
  a.limits.memory_max_bytes = 64 * kMiB;
  a.reading.oom_kills.reset();
  cell_.Terms("shop/web", true);
  cell_.Run(10);
  Tell(TaskEvent::Kind::kOomKill, a.found.identity);
  ASSERT_EQ(cell_.uplink.Ooms().size(), 1U);
  EXPECT_EQ(cell_.uplink.Ooms()[0].kills(), 1U);
  EXPECT_EQ(a.limits.memory_max_bytes, 164 * kMiB);
  cell_.Run(10);
  EXPECT_EQ(cell_.uplink.Ooms().size(), 1U);
}

TEST_F(AgentLimits, OnlyMeasuredMemoryIsNotRaisedAfterAKill) {
  cell_.options.rules[0].memory = MemoryStyle::kNone;
  InMemoryTask& a = Added(std::nullopt, 64 * kMiB);
  *a.reading.oom_kills += 1;
  cell_.Run(10);
  EXPECT_EQ(cell_.uplink.Ooms().size(), 1U);
  EXPECT_THAT(a.writes, IsEmpty());
  EXPECT_EQ(cell_.agent->counts().local_raises, 0U);
}

// ---- orders ----

TEST_F(AgentLimits, AnOrderOfTheSecondOfAnotherProgramsChangeIsFollowed) {
  for (const bool before : {true, false}) {
    AgentCell cell;
    cell.Start();
    InMemoryTask& a = cell.Add("shop/web", "a", 10 * kMiB);
    a.limits.memory_max_bytes = 64 * kMiB;
    cell.Run(3);
    cell.Order(a, Resource::kMemory, 80 * kMiB, 1);
    cell.Run(10);
    a.limits.memory_max_bytes = 200 * kMiB;
    cell.Order(a, Resource::kMemory, 300 * kMiB, 2).set_decided_s(cell.now.at.seconds() + (before ? 0 : 1));
    cell.Run(1);  // a second later the change is seen, and the order is read
    EXPECT_EQ(a.limits.memory_max_bytes, (before ? 200 : 300) * kMiB);
  }
}

TEST_F(AgentLimits, TheMinimumIsSaidOfTheOrdersBelowIt) {
  cell_.options.rules[0].cpu = CpuStyle::kSoft;
  InMemoryTask& a = Added(std::nullopt, 256 * kMiB);
  AgentCell::SetUsage(a, kMiB / 2);
  a.least_memory = 6 * kMiB;
  cell_.Run(130);  // so that the peak of before is forgotten
  cell_.Order(a, Resource::kMemory, 3 * kMiB, 1);
  cell_.Run(60);
  EXPECT_EQ(a.limits.memory_max_bytes, 6 * kMiB);
  EXPECT_EQ(cell_.LastOutcome(1)->minimum(), 6 * kMiB);
  EXPECT_EQ(cell_.LastOutcome(1)->resource(), pb::MEMORY);
  cell_.Order(a, Resource::kMemory, 6 * kMiB, 2);
  cell_.Run(10);
  EXPECT_EQ(cell_.LastOutcome(2)->text(), "") << "at it is not below it";
  EXPECT_FALSE(cell_.LastOutcome(2)->has_minimum());
}

TEST_F(AgentLimits, AnOutcomeSaysWhoseItIsAndHowLongItTook) {
  InMemoryTask& a = Added(std::nullopt, 1000 * kMiB);
  cell_.Order(a, Resource::kMemory, 700 * kMiB, 1);
  cell_.Run(60);
  const std::optional<pb::Outcome> done = cell_.LastOutcome(1);
  EXPECT_EQ(done->result(), pb::Outcome::APPLIED);
  EXPECT_EQ(done->resource(), pb::MEMORY);
  EXPECT_EQ(done->took_us(), 1'000'000U) << "in two steps, a second apart";
  InMemoryTask other;
  other.found.job = "shop/db";
  other.found.task = "b";
  cell_.Order(other, Resource::kCpu, 1.0, 2);
  cell_.Run(1);
  const std::optional<pb::Outcome> failed = cell_.LastOutcome(2);
  ASSERT_TRUE(failed.has_value());
  EXPECT_EQ(failed->name().job(), "shop/db");
  EXPECT_EQ(failed->name().task(), "b");
  EXPECT_EQ(failed->resource(), pb::CPU);
  EXPECT_THAT(failed->text(), HasSubstr("no such task"));
}

}  // namespace
}  // namespace taut
