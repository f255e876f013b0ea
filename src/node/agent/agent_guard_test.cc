// Tests the checks of orders (start-up grace, the driver's minimum, times of other clocks), the reports of
// kills, and the log of acts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/agent/agent_fixture.h"

namespace taut::node {
namespace {

namespace pb = taut::agent::v1;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class AgentGuard : public ::testing::Test {
 protected:
  InMemoryTask& Added(double limit, double uses = 20 * kMiB) {
    InMemoryTask& a = cell_.Add("shop/web", "a", uses);
    a.limits.memory_max_bytes = limit;
    cell_.Terms("shop/web", true);
    return a;
  }
  void Event(TaskEvent::Kind kind, const std::string& identity) {
    cell_.tasks.events.push_back({kind, identity});
    cell_.agent->OnReady(uint64_t{1} << 62, cell_.now);
  }
  std::vector<std::string> Actions() {
    std::vector<std::string> out;
    for (const AgentAct& act : cell_.agent->TakeActs()) out.emplace_back(act.action);
    return out;
  }

  AgentCell cell_;
};

// ---- the start ----

TEST_F(AgentGuard, ANewTaskIsNotCutBeforeItsGraceIsOver) {
  cell_.options.rules[0].startup_grace_s = 120;
  cell_.Start();
  cell_.Run(1);
  InMemoryTask& a = Added(256 * kMiB);
  cell_.Run(6);
  cell_.Order(a, Resource::kMemory, 64 * kMiB, 1);
  cell_.Run(100);
  EXPECT_EQ(a.limits.memory_max_bytes, 256 * kMiB);
  EXPECT_EQ(cell_.LastOutcome(1)->result(), pb::Outcome::HELD);
  EXPECT_THAT(cell_.LastOutcome(1)->text(), HasSubstr("has just started"));
  cell_.Order(a, Resource::kMemory, 300 * kMiB, 2);
  cell_.Run(1);
  EXPECT_EQ(a.limits.memory_max_bytes, 300 * kMiB) << "up at once";
  cell_.Order(a, Resource::kMemory, 64 * kMiB, 3);
  cell_.Run(60);
  EXPECT_EQ(a.limits.memory_max_bytes, 64 * kMiB);
  EXPECT_EQ(cell_.LastOutcome(3)->result(), pb::Outcome::APPLIED);
  // A task that starts again under the same name gets a new grace.
  cell_.Remove(a);
  cell_.Run(20);
  InMemoryTask& again = cell_.Add("shop/web", "a", 20 * kMiB, 0.5, "memory:2");
  again.limits.memory_max_bytes = 256 * kMiB;
  cell_.Run(60);
  EXPECT_EQ(again.limits.memory_max_bytes, 256 * kMiB);
  cell_.Run(120);
  EXPECT_EQ(again.limits.memory_max_bytes, 64 * kMiB);
}

TEST_F(AgentGuard, WhatRunsBeforeTheAgentHasNoGraceUnlessItsStartIsKnown) {
  cell_.options.rules[0].startup_grace_s = 120;
  cell_.Start();
  InMemoryTask& a = Added(256 * kMiB);
  InMemoryTask& young = cell_.Add("shop/web", "b", 20 * kMiB);
  young.limits.memory_max_bytes = 256 * kMiB;
  young.started_s = cell_.now.at.seconds() - 60;
  cell_.Run(3);
  cell_.Order(a, Resource::kMemory, 64 * kMiB, 1);
  cell_.Order(young, Resource::kMemory, 64 * kMiB, 1);
  cell_.Run(40);
  EXPECT_EQ(a.limits.memory_max_bytes, 64 * kMiB);
  EXPECT_EQ(young.limits.memory_max_bytes, 256 * kMiB);
  cell_.Run(40);
  EXPECT_EQ(young.limits.memory_max_bytes, 64 * kMiB);
}

// The rule overrides the daemon's terms, since the rule belongs to the operator of the machine.
TEST_F(AgentGuard, TheGraceIsTheRulesElseTheJobsElseFiveMinutes) {
  const struct {
    std::optional<int64_t> rule;
    std::optional<uint32_t> job;
    int held_s, done_s;  // seconds after the start
  } cases[] = {{std::nullopt, std::nullopt, 290, 340},
               {std::nullopt, 60, 50, 100},
               {std::nullopt, 600, 590, 640},
               {120, 600, 110, 160},
               {120, 60, 110, 160}};
  for (const auto& c : cases) {
    AgentCell cell;
    cell.options.rules[0].startup_grace_s = c.rule;
    cell.Start();
    cell.Run(1);
    InMemoryTask& a = cell.Add("shop/web", "a", 20 * kMiB);
    a.limits.memory_max_bytes = 256 * kMiB;
    cell.Run(5);
    pb::Terms& terms = cell.Terms("shop/web", true);
    if (c.job.has_value()) terms.set_startup_grace_s(*c.job);
    cell.Order(a, Resource::kMemory, 64 * kMiB, 1);
    cell.Run(c.held_s - 5);
    EXPECT_EQ(a.limits.memory_max_bytes, 256 * kMiB) << c.held_s;
    cell.Run(c.done_s - c.held_s);
    EXPECT_EQ(a.limits.memory_max_bytes, 64 * kMiB) << c.done_s;
  }
}

TEST_F(AgentGuard, AChangeOfTheJobsGraceCountsForTasksThatStart) {
  cell_.options.rules[0].startup_grace_s.reset();
  cell_.Start();
  cell_.Run(1);
  InMemoryTask& a = Added(256 * kMiB);
  cell_.Terms("shop/web", true).set_startup_grace_s(600);
  cell_.Run(6);
  cell_.Order(a, Resource::kMemory, 64 * kMiB, 1);
  cell_.Run(400);
  EXPECT_EQ(a.limits.memory_max_bytes, 256 * kMiB);
  cell_.Terms("shop/web", true).set_startup_grace_s(60);
  cell_.Run(40);
  EXPECT_EQ(a.limits.memory_max_bytes, 64 * kMiB);
}

// ---- values that cannot be set ----

TEST_F(AgentGuard, BelowTheDriversMinimumTheMinimumIsSetAndSaid) {
  cell_.Start();
  InMemoryTask& a = Added(256 * kMiB, kMiB / 2);
  a.least_memory = 6 * kMiB;
  cell_.Run(3);
  cell_.Order(a, Resource::kMemory, 3 * kMiB, 1);
  cell_.Run(60);
  EXPECT_EQ(a.limits.memory_max_bytes, 6 * kMiB);
  EXPECT_EQ(cell_.LastOutcome(1)->result(), pb::Outcome::APPLIED);
  EXPECT_EQ(cell_.LastOutcome(1)->limit(), 6 * kMiB);
  EXPECT_THAT(cell_.LastOutcome(1)->text(), HasSubstr("below the minimum of 6.00 MiB"));
  EXPECT_EQ(cell_.agent->counts().refused_writes, 0U);
}

TEST_F(AgentGuard, WhatIsInvalidIsNotTriedAgain) {
  cell_.Start();
  InMemoryTask& a = Added(256 * kMiB);
  a.set_error = absl::InvalidArgumentError("the limit is below the reservation");
  cell_.Run(3);
  cell_.Order(a, Resource::kMemory, 64 * kMiB, 1);
  cell_.Run(1000);
  EXPECT_EQ(cell_.agent->counts().refused_writes, 1U);
  EXPECT_EQ(cell_.LastOutcome(1)->result(), pb::Outcome::FAILED);
  EXPECT_TRUE(cell_.LastOutcome(1)->final());
  EXPECT_THAT(cell_.LastOutcome(1)->text(), HasSubstr("the reservation (refused; not retried until"));
  a.set_error = absl::OkStatus();
  cell_.Order(a, Resource::kMemory, 100 * kMiB, 2);
  cell_.Run(60);
  EXPECT_EQ(a.limits.memory_max_bytes, 100 * kMiB) << "another order is";
}

TEST_F(AgentGuard, AnOrderBelowUsageIsHeldForGood) {
  cell_.Start();
  InMemoryTask& a = Added(256 * kMiB, 20 * kMiB);
  cell_.Run(3);
  cell_.Order(a, Resource::kMemory, 10 * kMiB, 1);
  cell_.Run(100);
  const size_t writes = a.writes.size();
  const size_t outcomes = cell_.uplink.Outcomes().size();
  cell_.Run(1000);
  EXPECT_EQ(a.writes.size(), writes);
  EXPECT_EQ(cell_.uplink.Outcomes().size(), outcomes) << "said once";
  EXPECT_EQ(cell_.LastOutcome(1)->result(), pb::Outcome::HELD);
  EXPECT_TRUE(cell_.LastOutcome(1)->final());
  EXPECT_THAT(cell_.LastOutcome(1)->text(), HasSubstr("usage"));
}

// ---- other clocks ----

TEST_F(AgentGuard, AnOrderFromTheFutureToldAgainIsNotNewer) {
  cell_.Start();
  InMemoryTask& a = Added(256 * kMiB);
  cell_.Run(3);
  const int64_t year_s = cell_.now.at.seconds() + 365 * 86'400;
  cell_.Order(a, Resource::kMemory, 64 * kMiB, 1).set_decided_s(year_s);
  cell_.Run(60);
  ASSERT_EQ(a.limits.memory_max_bytes, 64 * kMiB);
  a.limits.memory_max_bytes = 200 * kMiB;
  cell_.Run(60);
  cell_.Order(a, Resource::kMemory, 64 * kMiB, 1).set_decided_s(year_s);
  cell_.Run(60);
  EXPECT_EQ(a.limits.memory_max_bytes, 200 * kMiB) << "the owner's change came after it";
  cell_.Order(a, Resource::kMemory, 80 * kMiB, 2).set_decided_s(year_s + 600);
  cell_.Run(60);
  EXPECT_EQ(a.limits.memory_max_bytes, 80 * kMiB);
  // The daemon's clock is correct again.
  cell_.Order(a, Resource::kMemory, 100 * kMiB, 3);
  cell_.Run(1);
  EXPECT_EQ(a.limits.memory_max_bytes, 100 * kMiB);
}

TEST_F(AgentGuard, AClockThatWentBackFreezesNoLimit) {
  cell_.Start();
  InMemoryTask& a = Added(64 * kMiB);
  cell_.now.at.us += int64_t{365} * 86'400 * kMicrosPerSecond;
  cell_.Run(15);
  *a.reading.oom_kills += 1;
  cell_.Run(15);
  ASSERT_EQ(a.limits.memory_max_bytes, 164 * kMiB);
  cell_.now.at.us -= int64_t{365} * 86'400 * kMicrosPerSecond;
  cell_.Run(5);
  cell_.Order(a, Resource::kMemory, 200 * kMiB, 1);
  cell_.Run(2);
  EXPECT_EQ(a.limits.memory_max_bytes, 200 * kMiB);
}

// ---- kills ----

// On cgroup v1 the engine reports a kill several times, and the kernel counts it once.
TEST_F(AgentGuard, AKillIsToldOnceHoweverOftenTheEngineSpeaks) {
  cell_.Start();
  InMemoryTask& a = Added(64 * kMiB);
  cell_.Run(3);
  const std::string identity = a.found.identity;
  for (int i = 0; i < 3; ++i) Event(TaskEvent::Kind::kOomKill, identity);
  *a.reading.oom_kills += 1;
  for (int i = 0; i < 4; ++i) Event(TaskEvent::Kind::kOomKill, identity);
  Event(TaskEvent::Kind::kGone, identity);
  for (int i = 0; i < 2; ++i) Event(TaskEvent::Kind::kOomKill, identity);
  cell_.Run(30);
  uint64_t kills = 0;
  for (const pb::Oom& oom : cell_.uplink.Ooms()) kills += oom.kills();
  EXPECT_EQ(kills, 1U);
}

TEST_F(AgentGuard, AKillWhoseGroupWentBeforeItWasReadIsToldOnce) {
  cell_.Start();
  InMemoryTask* a = &Added(64 * kMiB);
  cell_.Run(3);
  const std::string identity = a->found.identity;
  for (int i = 0; i < 5; ++i) {
    cell_.Remove(*a);
    if (i % 2 == 0) Event(TaskEvent::Kind::kGone, identity);
    for (int k = 0; k < 3; ++k) Event(TaskEvent::Kind::kOomKill, identity);
    EXPECT_EQ(cell_.uplink.Ooms().size(), static_cast<size_t>(i) + 1) << "one a start";
    cell_.now.steady_us += 100'000;
    a = &Added(64 * kMiB);
    cell_.agent->Find(cell_.now);
  }
}

TEST_F(AgentGuard, AnEventThatComesAfterTheNextStartIsOfTheLastOne) {
  cell_.Start();
  InMemoryTask& a = Added(64 * kMiB);
  cell_.Run(3);
  const std::string identity = a.found.identity;
  cell_.Remove(a);
  cell_.agent->Find(cell_.now);
  cell_.now.steady_us += 50'000;
  Added(64 * kMiB);
  cell_.agent->Find(cell_.now);
  Event(TaskEvent::Kind::kOomKill, identity);
  cell_.now.steady_us += 600'000;
  cell_.agent->Recheck(cell_.now);
  EXPECT_EQ(cell_.uplink.Ooms().size(), 1U);
}

TEST_F(AgentGuard, AContainerThatEndsDuringTheRaiseKeepsItsOwnersLimitInTheLedger) {
  cell_.Start();
  InMemoryTask& a = Added(64 * kMiB, 50 * kMiB);
  const std::string identity = a.found.identity;
  cell_.Run(3);
  cell_.Order(a, Resource::kMemory, 60 * kMiB, 7);
  cell_.Run(3);
  (void)Actions();
  // The engine stores the new limit, but the container is gone before it can be read back.
  a.lost_answer = absl::NotFoundError("container is no longer running");
  LimitValue stored;
  a.around_write = [&, calls = 0]() mutable {
    if (++calls < 2) return;
    stored = a.limits.memory_max_bytes;
    cell_.Remove(a);
  };
  *a.reading.oom_kills += 1;
  cell_.Run(10);
  EXPECT_THAT(Actions(), ElementsAre("limit_refused", "oom_kill"));
  ASSERT_TRUE(stored.has_value());
  EXPECT_GT(*stored, 100.0 * kMiB);
  InMemoryTask& again = Added(*stored, 50 * kMiB);
  ASSERT_EQ(again.found.identity, identity);
  cell_.Run(20);
  EXPECT_THAT(Actions(), testing::Not(testing::Contains("owner_changed")));
  const LedgerValue kept = cell_.ledger.Find(identity)->values.at(LimitKind::kMemoryMax);
  EXPECT_EQ(kept.owner, 64.0 * kMiB) << "what --release restores";
  EXPECT_EQ(kept.set, std::optional<LimitValue>(stored));
  EXPECT_EQ(kept.next, std::nullopt);
}

// ---- the log ----

TEST_F(AgentGuard, EveryActIsLoggedOnceWithItsTask) {
  cell_.Start();
  InMemoryTask& a = Added(256 * kMiB, 50 * kMiB);
  cell_.Run(3);
  EXPECT_THAT(Actions(), IsEmpty());
  cell_.Order(a, Resource::kMemory, 64 * kMiB, 7);
  cell_.Run(60);
  const std::vector<AgentAct> acts = cell_.agent->TakeActs();
  ASSERT_EQ(acts.size(), 1U) << "the steps on the way are none";
  EXPECT_EQ(acts[0].action, "limit_set");
  EXPECT_EQ(acts[0].job, "shop/web");
  EXPECT_EQ(acts[0].task, "a");
  EXPECT_EQ(acts[0].from, 256 * kMiB);
  EXPECT_EQ(acts[0].to, 64 * kMiB);
  EXPECT_EQ(acts[0].decision, 7U);
  *a.reading.oom_kills += 2;
  cell_.Run(10);
  EXPECT_THAT(Actions(), ElementsAre("limit_raised", "oom_kill"));
  a.limits.memory_max_bytes = 200 * kMiB;
  cell_.Run(60);
  EXPECT_THAT(Actions(), ElementsAre("owner_changed"));
  cell_.Order(a, Resource::kMemory, 100 * kMiB, 8);
  a.set_error = absl::UnavailableError("the engine is away");
  cell_.Run(10);
  a.set_error = absl::OkStatus();
  cell_.Run(40);
  EXPECT_THAT(Actions(), ElementsAre("limit_refused", "limit_set"));
  cell_.Order(a, Resource::kMemory, std::nullopt, 9);
  cell_.Run(1);
  EXPECT_THAT(Actions(), ElementsAre("limit_released"));
  cell_.Run(100);
  EXPECT_THAT(Actions(), IsEmpty());
}

}  // namespace
}  // namespace taut::node
