// Tests the agent without orders: kills and throttling, changes by other programs, restarts, and a ledger that
// cannot be saved.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "common/testing/temp_dir.h"
#include "node/agent/agent_fixture.h"

namespace taut::node {
namespace {

namespace pb = taut::agent::v1;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// An agent and one task whose memory limit was ordered.
class AgentTrouble : public ::testing::Test {
 protected:
  // Adds a task that uses 50 MiB, and orders `limit` for this task.
  InMemoryTask& Limited(double limit) {
    if (cell_.agent == nullptr) cell_.Start();
    InMemoryTask& a = cell_.Add("shop/web", "a", 50 * kMiB);
    cell_.Run(3);
    cell_.Order(a, Resource::kMemory, limit, 1);
    cell_.Run(2);
    EXPECT_EQ(a.limits.memory_max_bytes, limit);
    return a;
  }
  void Kill(InMemoryTask& task, uint64_t kills = 1) {
    *task.reading.oom_kills += kills;
    cell_.Run(10);  // long enough for the next full reading
  }

  AgentCell cell_;
};

// ---- kills ----

TEST_F(AgentTrouble, AKillRaisesAtOnceAndIsTold) {
  InMemoryTask& a = Limited(64 * kMiB);
  a.found.labels = {{"team", "shop"}};
  cell_.Terms("shop/web", true);
  cell_.Run(1);
  const int64_t before_s = cell_.now.at.seconds();
  Kill(a, 3);
  EXPECT_EQ(a.limits.memory_max_bytes, 164 * kMiB) << "L + 100 MiB";
  ASSERT_EQ(cell_.uplink.Ooms().size(), 1U);
  const pb::Oom oom = cell_.uplink.Ooms()[0];
  EXPECT_EQ(oom.name().task(), "a");
  EXPECT_EQ(oom.kills(), 3U);
  EXPECT_EQ(oom.limit_bytes(), 64 * kMiB);
  EXPECT_EQ(oom.raised_to_bytes(), 164 * kMiB);
  EXPECT_GT(oom.time_us() / kMicrosPerSecond, before_s);
  for (const auto& [message, keep] : cell_.uplink.sent) {
    EXPECT_EQ(message.has_oom(), keep == Keep::kUntilAcknowledged);
  }
  EXPECT_EQ(cell_.agent->counts().local_raises, 1U);
  EXPECT_EQ(cell_.ledger.Find(a.found.identity)->values.at(LimitKind::kMemoryMax).set, 164 * kMiB);
  cell_.Run(60);
  EXPECT_EQ(a.limits.memory_max_bytes, 164 * kMiB);
  EXPECT_EQ(cell_.uplink.Ooms().size(), 1U);
}

TEST_F(AgentTrouble, OrdersDecidedBeforeAKillDoNotUndoItsRaise) {
  InMemoryTask& a = Limited(64 * kMiB);
  cell_.Terms("shop/web", true);
  cell_.Order(a, Resource::kMemory, 70 * kMiB, 2);
  cell_.Run(1);
  const int64_t before_s = cell_.now.at.seconds();
  Kill(a);
  const double raised = 170 * kMiB;
  EXPECT_EQ(a.limits.memory_max_bytes, raised);
  cell_.Order(a, Resource::kMemory, 64 * kMiB, 3).set_decided_s(before_s - 10);
  cell_.Run(30);
  EXPECT_EQ(a.limits.memory_max_bytes, raised);
  EXPECT_EQ(cell_.LastOutcome(3)->result(), pb::Outcome::HELD);
  EXPECT_THAT(cell_.LastOutcome(3)->text(), HasSubstr("OOM"));
  // An order that was decided after the kill may lower the limit again.
  cell_.Order(a, Resource::kMemory, 100 * kMiB, 4);
  cell_.Run(60);
  EXPECT_EQ(a.limits.memory_max_bytes, 100 * kMiB);
  EXPECT_EQ(cell_.LastOutcome(4)->result(), pb::Outcome::APPLIED);
}

TEST_F(AgentTrouble, ARaiseStaysWithinRuleTermsAndMachine) {
  const struct {
    std::optional<double> rule, terms;
    double machine, raised;
  } cases[] = {{120 * kMiB, 140 * kMiB, 0, 120 * kMiB},
               {160 * kMiB, 140 * kMiB, 0, 140 * kMiB},
               {std::nullopt, std::nullopt, 100 * kMiB, 95 * kMiB},
               {64 * kMiB, std::nullopt, 0, 64 * kMiB}};
  for (const auto& c : cases) {
    AgentCell cell;
    cell.options.rules[0].memory_upper = c.rule;
    cell.options.machine_memory_bytes = c.machine;
    cell.Start();
    InMemoryTask& a = cell.Add("shop/web", "a", 50 * kMiB);
    a.limits.memory_max_bytes = 64 * kMiB;
    pb::Terms& terms = cell.Terms("shop/web", true);
    if (c.terms.has_value()) terms.set_memory_upper_bytes(*c.terms);
    cell.Run(3);
    *a.reading.oom_kills += 1;
    cell.Run(10);
    EXPECT_EQ(a.limits.memory_max_bytes, c.raised);
    ASSERT_EQ(cell.uplink.Ooms().size(), 1U);
    EXPECT_EQ(cell.uplink.Ooms()[0].has_raised_to_bytes(), c.raised > 64 * kMiB);
  }
}

TEST_F(AgentTrouble, WithoutTermsAKillIsToldAndNothingRaised) {
  InMemoryTask& a = Limited(64 * kMiB);
  Kill(a);  // the daemon has sent no terms yet
  cell_.Terms("shop/web", false);
  cell_.Run(1);
  Kill(a);
  EXPECT_EQ(a.limits.memory_max_bytes, 64 * kMiB);
  ASSERT_EQ(cell_.uplink.Ooms().size(), 2U);
  for (const pb::Oom& oom : cell_.uplink.Ooms()) {
    EXPECT_EQ(oom.limit_bytes(), 64 * kMiB);
    EXPECT_FALSE(oom.has_raised_to_bytes());
  }
}

TEST_F(AgentTrouble, ARefusedRaiseIsNotToldAsDone) {
  InMemoryTask& a = Limited(64 * kMiB);
  cell_.Terms("shop/web", true);
  cell_.Run(1);
  a.set_error = absl::UnavailableError("the engine is away");
  Kill(a);
  ASSERT_EQ(cell_.uplink.Ooms().size(), 1U);
  EXPECT_FALSE(cell_.uplink.Ooms()[0].has_raised_to_bytes());
  a.set_error = absl::OkStatus();
  cell_.Run(30);
  EXPECT_EQ(a.limits.memory_max_bytes, 164 * kMiB) << "tried again";
}

TEST_F(AgentTrouble, KernelAndEngineTellOneKillTogether) {
  InMemoryTask& a = Limited(64 * kMiB);
  const auto event = [&] {
    cell_.tasks.events.push_back({TaskEvent::Kind::kOomKill, a.found.identity});
    cell_.agent->OnReady(uint64_t{1} << 62, cell_.now);
  };
  event();
  cell_.now.steady_us += 1000;
  *a.reading.oom_kills += 1;
  cell_.agent->OnReady(1, cell_.now);
  EXPECT_EQ(cell_.uplink.Ooms().size(), 1U);
  // Another kill soon after is counted as a second kill.
  *a.reading.oom_kills += 1;
  cell_.agent->OnReady(1, cell_.now);
  event();
  EXPECT_EQ(cell_.uplink.Ooms().size(), 2U);
  // The engine reports one more kill, which the kernel did not count.
  cell_.Run(20);
  event();
  cell_.Run(20);
  EXPECT_EQ(cell_.uplink.Ooms().size(), 2U);
}

TEST_F(AgentTrouble, AKillThatIsToldWhenTheContainerIsGoneCountsForItsNextStart) {
  InMemoryTask& a = Limited(64 * kMiB);
  cell_.Terms("shop/web", true);
  cell_.Run(1);
  const std::string identity = a.found.identity;
  cell_.Remove(a);
  cell_.Run(10);
  EXPECT_EQ(cell_.agent->tasks(), 0U);
  cell_.tasks.events.push_back({TaskEvent::Kind::kOomKill, identity});
  cell_.agent->OnReady(uint64_t{1} << 62, cell_.now);
  ASSERT_EQ(cell_.uplink.Ooms().size(), 1U);
  EXPECT_EQ(cell_.uplink.Ooms()[0].name().task(), "a");
  EXPECT_EQ(cell_.uplink.Ooms()[0].limit_bytes(), 64 * kMiB);
  InMemoryTask& again = cell_.Add("shop/web", "a", 10 * kMiB);
  cell_.Run(6);
  EXPECT_EQ(again.limits.memory_max_bytes, 164 * kMiB);
}

TEST_F(AgentTrouble, AKillOfNobodyKnownIsNothing) {
  InMemoryTask& a = Limited(64 * kMiB);
  cell_.tasks.events.push_back({TaskEvent::Kind::kOomKill, "memory:other"});
  cell_.tasks.events.push_back({TaskEvent::Kind::kGone, "memory:other"});
  cell_.agent->OnReady(uint64_t{1} << 62, cell_.now);
  cell_.agent->OnReady(12345, cell_.now);
  EXPECT_THAT(cell_.uplink.Ooms(), IsEmpty());
  EXPECT_NE(cell_.agent->FindTask("shop/web", a.found.task), nullptr);
}

TEST_F(AgentTrouble, KillsOfBeforeAreNoNews) {
  cell_.Start();
  InMemoryTask& a = cell_.Add("shop/web", "a", 10 * kMiB);
  a.reading.oom_kills = 17;
  cell_.Run(60);
  EXPECT_THAT(cell_.uplink.Ooms(), IsEmpty());
}

// ---- throttling ----

TEST_F(AgentTrouble, ThrottlingRaisesAHardLimit) {
  cell_.options.rules[0].cpu_upper = 1.4;
  cell_.Start();
  InMemoryTask& a = cell_.Add("shop/web", "a", 50 * kMiB, 1);
  cell_.Terms("shop/web", true);
  cell_.Run(3);
  cell_.Order(a, Resource::kCpu, 1.0, 1);
  cell_.Run(1);
  *a.reading.cpu_throttled_periods += 50;
  cell_.Run(10);
  EXPECT_EQ(a.limits.cpu_max_cores, 1.25);
  *a.reading.cpu_throttled_periods += 50;
  cell_.Run(10);
  EXPECT_EQ(a.limits.cpu_max_cores, 1.4) << "within the rule's bound";
  EXPECT_EQ(cell_.agent->counts().local_raises, 2U);
  // A lower order waits until the hold ends.
  cell_.Order(a, Resource::kCpu, 0.5, 2);
  cell_.Run(10);
  EXPECT_EQ(a.limits.cpu_max_cores, 1.4);
  EXPECT_EQ(cell_.LastOutcome(2)->result(), pb::Outcome::HELD);
  // A release to the owner, who has set no limit, is above the floor and is applied at once.
  cell_.Order(a, Resource::kCpu, std::nullopt, 3);
  cell_.Run(10);
  EXPECT_EQ(a.limits.cpu_max_cores, std::nullopt);
  EXPECT_EQ(cell_.LastOutcome(3)->result(), pb::Outcome::APPLIED);
}

TEST_F(AgentTrouble, ThrottlingDoesNotRaiseAboveTheOwnersLimit) {
  cell_.Start();
  InMemoryTask& a = cell_.Add("shop/web", "a", 50 * kMiB, 1);
  a.limits.cpu_max_cores = 1.1;
  cell_.Terms("shop/web", true);
  cell_.Run(3);
  cell_.Order(a, Resource::kCpu, 1.0, 1);
  cell_.Run(1);
  for (int i = 0; i < 2; ++i) {
    *a.reading.cpu_throttled_periods += 50;
    cell_.Run(10);
    EXPECT_EQ(a.limits.cpu_max_cores, 1.1);
  }
  EXPECT_EQ(cell_.agent->counts().local_raises, 1U);
  cell_.Order(a, Resource::kCpu, 0.5, 2);
  cell_.Run(60);
  EXPECT_EQ(cell_.LastOutcome(2)->result(), pb::Outcome::HELD);
  cell_.now.steady_us += 3600 * kMicrosPerSecond;
  cell_.Run(3);
  EXPECT_EQ(a.limits.cpu_max_cores, 0.5);
}

// ---- changes by other programs ----

TEST_F(AgentTrouble, SomebodyElsesChangeIsRespectedAndTold) {
  InMemoryTask& a = Limited(64 * kMiB);
  cell_.Run(30);
  const size_t writes = a.writes.size(), told = cell_.uplink.Tasks().size();
  const int64_t before_s = cell_.now.at.seconds();
  a.limits.memory_max_bytes = 200 * kMiB;
  cell_.Run(60);
  EXPECT_EQ(a.limits.memory_max_bytes, 200 * kMiB);
  EXPECT_EQ(a.writes.size(), writes);
  EXPECT_EQ(cell_.agent->counts().foreign_changes, 1U);
  ASSERT_EQ(cell_.uplink.Tasks().size(), told + 1);
  EXPECT_EQ(cell_.uplink.Tasks().back().started(0).owner_memory_bytes(), 200 * kMiB);
  EXPECT_EQ(cell_.ledger.Find(a.found.identity)->values.at(LimitKind::kMemoryMax).owner, 200 * kMiB);
  EXPECT_EQ(cell_.LastOutcome(1)->result(), pb::Outcome::HELD);
  EXPECT_THAT(cell_.LastOutcome(1)->text(), HasSubstr("another program"));
  // The earlier order is resent, but is older than the change.
  cell_.Order(a, Resource::kMemory, 64 * kMiB, 1).set_decided_s(before_s);
  cell_.Run(30);
  EXPECT_EQ(a.limits.memory_max_bytes, 200 * kMiB);
  // A new decision is carried out.
  cell_.Order(a, Resource::kMemory, 96 * kMiB, 2);
  cell_.Run(60);
  EXPECT_EQ(a.limits.memory_max_bytes, 96 * kMiB);
  cell_.Order(a, Resource::kMemory, std::nullopt, 3);
  cell_.Run(60);
  EXPECT_EQ(a.limits.memory_max_bytes, 200 * kMiB) << "which is the owner's now";
}

TEST_F(AgentTrouble, AnOwnersChangeOfWhatWasNeverSetIsFollowed) {
  cell_.Start();
  InMemoryTask& a = cell_.Add("shop/web", "a", 10 * kMiB);
  a.limits.memory_max_bytes = 64 * kMiB;
  cell_.Run(3);
  a.limits.memory_max_bytes = 512 * kMiB;
  cell_.Run(60);
  EXPECT_EQ(cell_.uplink.Tasks().back().started(0).owner_memory_bytes(), 512 * kMiB);
  EXPECT_EQ(cell_.uplink.Tasks().back().started(0).memory_bytes(), 512 * kMiB);
  // An order below the owner's new limit of 512 MiB is a decrease, and the limit falls in steps.
  cell_.Order(a, Resource::kMemory, 128 * kMiB, 1);
  cell_.Run(2);
  EXPECT_GT(*a.limits.memory_max_bytes, 256 * kMiB);
  cell_.Run(60);
  EXPECT_EQ(a.limits.memory_max_bytes, 128 * kMiB);
}

TEST_F(AgentTrouble, AnOwnersChangeBetweenTwoStepsIsNotOverwritten) {
  cell_.Start();
  InMemoryTask& a = cell_.Add("shop/web", "a", 10 * kMiB);
  a.limits.memory_max_bytes = 512 * kMiB;
  cell_.Run(60);
  cell_.Order(a, Resource::kMemory, 64 * kMiB, 1);
  cell_.Run(2);
  ASSERT_LT(*a.limits.memory_max_bytes, 512 * kMiB) << "on its way down";
  ASSERT_GT(*a.limits.memory_max_bytes, 256 * kMiB);
  a.limits.memory_max_bytes = 600 * kMiB;
  cell_.Run(60);
  EXPECT_EQ(a.limits.memory_max_bytes, 600 * kMiB);
  EXPECT_EQ(cell_.agent->counts().foreign_changes, 1U);
  EXPECT_EQ(cell_.LastOutcome(1)->result(), pb::Outcome::HELD);
}

TEST_F(AgentTrouble, OtherLimitsThanTheRulesDoNotStopAnOrder) {
  InMemoryTask& a = Limited(64 * kMiB);
  a.limits.memory_high_bytes = 60 * kMiB;
  cell_.Run(40);
  cell_.Order(a, Resource::kMemory, 80 * kMiB, 2);
  cell_.Run(40);
  EXPECT_EQ(a.limits.memory_max_bytes, 80 * kMiB);
  EXPECT_EQ(a.limits.memory_high_bytes, 60 * kMiB);
}

// ---- restarts ----

TEST_F(AgentTrouble, ANewLifeKnowsTheOwnersLimitsAndKeepsThoseInForce) {
  cell_.Start();
  InMemoryTask& a = cell_.Add("shop/web", "a", 50 * kMiB);
  a.limits.memory_max_bytes = 256 * kMiB;
  cell_.Run(3);
  cell_.Order(a, Resource::kMemory, 128 * kMiB, 1);
  cell_.Run(60);
  ASSERT_EQ(a.limits.memory_max_bytes, 128 * kMiB);
  const size_t writes = a.writes.size();
  cell_.Start();
  cell_.Run(60);
  EXPECT_EQ(a.limits.memory_max_bytes, 128 * kMiB);
  EXPECT_EQ(a.writes.size(), writes);
  const pb::Task told = cell_.uplink.Tasks().back().started(0);
  EXPECT_EQ(told.owner_memory_bytes(), 256 * kMiB);
  EXPECT_EQ(told.memory_bytes(), 128 * kMiB);
  cell_.Order(a, Resource::kMemory, std::nullopt, 2);
  cell_.Run(1);
  EXPECT_EQ(a.limits.memory_max_bytes, 256 * kMiB);
}

TEST_F(AgentTrouble, ALifeThatEndedBetweenLedgerAndKernelChangedNothing) {
  cell_.Start();
  InMemoryTask& a = cell_.Add("shop/web", "a", 50 * kMiB);
  a.limits.memory_max_bytes = 256 * kMiB;
  cell_.ledger.Intend(a.found, LimitKind::kMemoryMax, 256 * kMiB, 128 * kMiB);
  cell_.Run(40);
  EXPECT_EQ(cell_.uplink.Tasks().back().started(0).owner_memory_bytes(), 256 * kMiB);
  EXPECT_EQ(cell_.agent->counts().foreign_changes, 0U);
  EXPECT_EQ(a.limits.memory_max_bytes, 256 * kMiB);
  cell_.Order(a, Resource::kMemory, 128 * kMiB, 1);
  cell_.Run(40);
  EXPECT_EQ(a.limits.memory_max_bytes, 128 * kMiB);
}

TEST_F(AgentTrouble, AChangeWhileTheAgentWasAwayIsRespected) {
  InMemoryTask& a = Limited(64 * kMiB);
  const int64_t before_s = cell_.now.at.seconds();
  cell_.agent.reset();
  a.limits.memory_max_bytes = 200 * kMiB;
  cell_.now.at.us += 60 * kMicrosPerSecond;
  cell_.now.steady_us += 60 * kMicrosPerSecond;
  cell_.Start();
  cell_.Run(6);
  cell_.Order(a, Resource::kMemory, 64 * kMiB, 1).set_decided_s(before_s);
  cell_.Run(30);
  EXPECT_EQ(a.limits.memory_max_bytes, 200 * kMiB);
  EXPECT_EQ(cell_.uplink.Tasks().back().started(0).owner_memory_bytes(), 200 * kMiB);
}

TEST_F(AgentTrouble, ATaskThatComesBackStartsWithWhatItHad) {
  InMemoryTask& a = Limited(64 * kMiB);
  cell_.Remove(a);
  cell_.Run(20);
  InMemoryTask& again = cell_.Add("shop/web", "a", 10 * kMiB, 0.5, "memory:2");
  again.limits.memory_max_bytes = 48 * kMiB;
  cell_.Run(6);
  EXPECT_EQ(again.limits.memory_max_bytes, 64 * kMiB);
  EXPECT_EQ(cell_.LastOutcome(1)->result(), pb::Outcome::APPLIED);
  cell_.Order(again, Resource::kMemory, std::nullopt, 2);
  cell_.Run(40);
  EXPECT_EQ(again.limits.memory_max_bytes, 48 * kMiB) << "the owner's of its new life";
  // The owner may set another limit at the next start.
  cell_.Remove(again);
  cell_.Run(20);
  InMemoryTask& third = cell_.Add("shop/web", "a", 10 * kMiB, 0.5, "memory:3");
  third.limits.memory_max_bytes = 512 * kMiB;
  cell_.Run(60);
  EXPECT_EQ(third.limits.memory_max_bytes, 512 * kMiB);
  EXPECT_THAT(third.writes, IsEmpty());
}

TEST_F(AgentTrouble, AStoppedContainerIsStillKnownWhenItStartsAgain) {
  cell_.Start();
  InMemoryTask& a = cell_.Add("shop/web", "a", 50 * kMiB);
  a.limits.memory_max_bytes = 256 * kMiB;
  cell_.Run(3);
  cell_.Order(a, Resource::kMemory, 400 * kMiB, 1);
  cell_.Run(1);
  const std::string identity = a.found.identity;
  cell_.Remove(a);
  cell_.tasks.asleep = {identity};
  cell_.Run(1000);  // longer than the agent remembers an ended task
  InMemoryTask& again = cell_.Add("shop/web", "a", 50 * kMiB);
  again.limits.memory_max_bytes = 400 * kMiB;  // the engine kept the limit
  cell_.Run(20);
  EXPECT_EQ(cell_.uplink.Tasks().back().started(0).owner_memory_bytes(), 256 * kMiB);
  // The task is removed permanently.
  cell_.Remove(again);
  cell_.tasks.asleep.clear();
  cell_.Run(100);
  EXPECT_THAT(cell_.ledger.entries(), IsEmpty());
}

TEST_F(AgentTrouble, WhatNoRuleFindsAnyMoreKeepsItsWayBack) {
  InMemoryTask& a = Limited(64 * kMiB);
  a.found_by_rule = false;
  cell_.Run(100);
  EXPECT_EQ(cell_.agent->tasks(), 0U);
  EXPECT_NE(cell_.ledger.Find(a.found.identity), nullptr);
  ASSERT_EQ(cell_.agent->errors().size(), 1U);
  EXPECT_THAT(cell_.agent->errors().begin()->second, HasSubstr("tautlet --release"));
  EXPECT_EQ(a.limits.memory_max_bytes, 64 * kMiB);
  cell_.Remove(a);
  cell_.Run(100);
  EXPECT_THAT(cell_.ledger.entries(), IsEmpty());
  EXPECT_THAT(cell_.agent->errors(), IsEmpty());
}

// ---- the ledger comes first ----

class AgentLedger : public AgentTrouble {
 protected:
  const TempDir dir_;
  const std::string directory_ = dir_.path();
};

TEST_F(AgentLedger, NothingIsWrittenThatCouldNotBeChangedBack) {
  const std::string path = directory_ + "/state/ledger";  // the directory does not exist
  cell_.ledger = *Ledger::Open(path);
  cell_.Start();
  InMemoryTask& a = cell_.Add("shop/web", "a", 50 * kMiB);
  cell_.Terms("shop/web", true);
  cell_.Run(3);
  cell_.Order(a, Resource::kMemory, 64 * kMiB, 1);
  cell_.Order(a, Resource::kCpu, 1, 2);
  cell_.Run(60);
  EXPECT_THAT(a.writes, IsEmpty());
  ASSERT_TRUE(cell_.agent->errors().contains("ledger"));
  EXPECT_THAT(cell_.agent->errors().at("ledger"), HasSubstr("cannot write"));
  EXPECT_EQ(cell_.LastOutcome(1)->result(), pb::Outcome::FAILED);
  EXPECT_THAT(cell_.LastOutcome(2)->text(), HasSubstr("cannot write"));
  EXPECT_EQ(cell_.agent->counts().foreign_changes, 0U);
  std::filesystem::create_directory(directory_ + "/state");
  cell_.Run(300);
  EXPECT_EQ(a.limits.memory_max_bytes, 64 * kMiB);
  EXPECT_EQ(a.limits.cpu_max_cores, 1.0);
  EXPECT_THAT(cell_.agent->errors(), IsEmpty());
  EXPECT_EQ(Ledger::Open(path)->Find(a.found.identity)->values.at(LimitKind::kMemoryMax).set, 64 * kMiB);
}

// At each write the file already contains the new value and the owner's value.
TEST_F(AgentLedger, IsOnTheDiskBeforeTheKernelHasIt) {
  class WatchedGroup final : public TaskGroup {
   public:
    WatchedGroup(std::unique_ptr<TaskGroup> group, std::string identity, std::string path, int& looks)
        : group_(std::move(group)), identity_(std::move(identity)), path_(std::move(path)), looks_(looks) {}
    absl::Status Read(ReadDepth depth, TaskReading& out) override { return group_->Read(depth, out); }
    absl::StatusOr<TaskLimits> ReadLimits() override { return group_->ReadLimits(); }
    absl::Status SetLimit(LimitKind kind, std::optional<double> value) override {
      const absl::StatusOr<Ledger> ledger = Ledger::Open(path_);
      EXPECT_TRUE(ledger.ok());
      const LedgerEntry* entry = ledger->Find(identity_);
      if (entry != nullptr && entry->values.contains(kind)) {
        EXPECT_EQ(entry->values.at(kind).next, std::optional<LimitValue>(value));
        EXPECT_EQ(entry->values.at(kind).owner, 256 * kMiB);
        ++looks_;
      }
      return group_->SetLimit(kind, value);
    }

   private:
    std::unique_ptr<TaskGroup> group_;
    const std::string identity_, path_;
    int& looks_;
  };
  class WatchedFinder final : public TaskFinder {
   public:
    WatchedFinder(InMemoryTasks& tasks, std::string path) : tasks_(tasks), path_(std::move(path)) {}
    std::string_view name() const override { return "watched"; }
    absl::StatusOr<std::vector<FoundTask>> Find() override { return tasks_.Find(); }
    absl::StatusOr<std::unique_ptr<TaskGroup>> Open(const FoundTask& task) override {
      return std::make_unique<WatchedGroup>(*tasks_.Open(task), task.identity, path_, looks);
    }
    int looks = 0;

   private:
    InMemoryTasks& tasks_;
    const std::string path_;
  };
  const std::string path = directory_ + "/ledger";
  cell_.ledger = *Ledger::Open(path);
  WatchedFinder finder(cell_.tasks, path);
  cell_.agent =
      std::make_unique<Agent>(cell_.options, Agent::Parts{{&finder}, &cell_.uplink, &cell_.ledger, nullptr});
  InMemoryTask& a = cell_.Add("shop/web", "a", 50 * kMiB);
  a.limits.memory_max_bytes = 256 * kMiB;
  cell_.Run(3);
  cell_.Order(a, Resource::kMemory, 100 * kMiB, 1);
  cell_.Run(60);
  EXPECT_EQ(a.limits.memory_max_bytes, 100 * kMiB);
  EXPECT_GT(finder.looks, 3);
  EXPECT_EQ(static_cast<size_t>(finder.looks), a.writes.size());
}

}  // namespace
}  // namespace taut::node
