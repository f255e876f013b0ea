// Tests that tautd receives each act of the memory guard once, with its figures, also after a crash.
#include "common/testing/temp_dir.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/agent/tier_fixture.h"

namespace taut::node {
namespace {

namespace pb = taut::agent::v1;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// Returns "kind task" for each act sent.
std::vector<std::string> Said(const AgentCell& cell) {
  std::vector<std::string> out;
  for (const pb::TierAct& act : cell.uplink.TierActs()) {
    out.push_back(StrCat(pb::TierAct::Kind_Name(act.kind()), " ", act.name().task()));
  }
  return out;
}

TEST(AgentActs, ThrottleKillAndReleaseAreReportedWithTheirFigures) {
  TierCell cell;
  cell.Add("web", "h/w", 150 * kMiB);
  InMemoryTask& mid = cell.Add("mid", "h/m", 30 * kMiB);
  InMemoryTask& batch = cell.Add("batch/a", "h/a", 66 * kMiB);
  cell.Guard();
  cell.Run(7);
  ASSERT_EQ(batch.kills, 1);
  cell.Run(60);
  EXPECT_THAT(Said(cell),
              ElementsAre("THROTTLE h/a", "THROTTLE h/m", "KILL h/a", "RELEASE h/a", "RELEASE h/m"));
  const pb::TierAct kill = cell.uplink.TierActs()[2];
  EXPECT_EQ(kill.name().job(), "batch/a");
  EXPECT_EQ(kill.tier(), "batch");
  EXPECT_FALSE(kill.observed());
  EXPECT_EQ(kill.usage_bytes(), 66 * kMiB);
  EXPECT_EQ(kill.request_bytes(), 20 * kMiB);
  EXPECT_EQ(kill.free_bytes(), 10 * kMiB);
  EXPECT_EQ(kill.total_bytes(), 256 * kMiB);
  EXPECT_EQ(kill.pressure_some(), 0);
  EXPECT_FALSE(kill.has_high_bytes());
  EXPECT_THAT(kill.text(), HasSubstr("free 10.0 MiB of 256 MiB is below 12.8 MiB"));
  EXPECT_NEAR(cell.uplink.TierActs()[0].high_bytes(), 0.9 * 66 * kMiB, 1);
  EXPECT_THAT(cell.uplink.Ooms(), IsEmpty()) << "a kill for others' sake is no OOM kill of the task";
  EXPECT_EQ(mid.kills, 0);
  EXPECT_THAT(cell.ledger.acts(), IsEmpty());
}

TEST(AgentActs, AKillRaisesNoLimitThoughTheJobsLimitsAreApplied) {
  TierCell cell;
  cell.options.rules[0].memory = MemoryStyle::kHard;
  cell.Add("web", "h/w", 150 * kMiB);
  InMemoryTask& batch = cell.Add("batch/a", "h/a", 96 * kMiB);
  batch.limits.memory_max_bytes = 128 * kMiB;
  cell.Terms("batch/a", true);
  cell.Guard();
  cell.Run(8);
  ASSERT_EQ(batch.kills, 1);
  // The group disappears with its last process, and a new group appears.
  cell.Remove(batch);
  cell.Run(10);
  InMemoryTask& again = cell.Add("batch/a", "h/a", 10 * kMiB, 0.5, "memory:again");
  again.limits.memory_max_bytes = 128 * kMiB;
  cell.Run(60);
  EXPECT_EQ(again.limits.memory_max_bytes, 128 * kMiB);
  EXPECT_EQ(cell.agent->counts().local_raises, 0U);
  EXPECT_THAT(cell.uplink.Ooms(), IsEmpty());
}

TEST(AgentActs, AnAgentThatObservesSaysWhatItWouldDo) {
  TierCell cell;
  cell.options.observe = true;
  cell.Add("web", "h/w", 150 * kMiB);
  cell.Add("batch/a", "h/a", 100 * kMiB);
  cell.Guard();
  cell.Run(7);
  ASSERT_THAT(cell.uplink.TierActs(), Not(IsEmpty()));
  for (const pb::TierAct& act : cell.uplink.TierActs()) {
    EXPECT_TRUE(act.observed());
    EXPECT_THAT(act.text(), HasSubstr("observe, not done: "));
  }
  EXPECT_THAT(cell.ledger.acts(), IsEmpty());
}

TEST(AgentActs, AKillThatFailsIsReportedAsThat) {
  TierCell cell;
  InMemoryTask& batch = cell.Add("batch/a", "h/a", 254 * kMiB);
  batch.kill_error = absl::PermissionDeniedError("no CAP_KILL");
  cell.Guard();
  cell.Run(2);
  EXPECT_THAT(Said(cell), ElementsAre("THROTTLE h/a", "KILL_FAILED h/a"));
  EXPECT_THAT(cell.uplink.TierActs()[1].text(), HasSubstr("no CAP_KILL"));
}

TEST(AgentActs, AThrottleEndsWhenTautletStopsOrAnotherProgramSetsMemoryHigh) {
  for (const bool stops : {true, false}) {
    TierCell cell;
    cell.options.tiers.guard.throttle = true;
    cell.Add("web", "h/w", 180 * kMiB);
    InMemoryTask& batch = cell.Add("batch/a", "h/a", 60 * kMiB);
    cell.Begin();
    cell.Run(2);
    ASSERT_THAT(Said(cell), ElementsAre("THROTTLE h/a"));
    if (stops) {
      cell.agent->Stop(cell.now);
    } else {
      batch.limits.memory_high_bytes = 200 * kMiB;
      cell.Run(60);
    }
    ASSERT_THAT(Said(cell), ElementsAre("THROTTLE h/a", "RELEASE h/a")) << stops;
    EXPECT_THAT(cell.uplink.TierActs()[1].text(),
                HasSubstr(stops ? "tautlet stops" : "another program has set memory.high"));
    EXPECT_THAT(cell.ledger.acts(), IsEmpty());
  }
}

TEST(AgentActs, AfterAStopTheFileOfTheLedgerHasNoActThatStands) {
  const TempDir dir;
  const std::string path = dir.path() + "/ledger";
  TierCell cell;
  cell.ledger = *Ledger::Open(path);
  cell.options.tiers.guard.throttle = true;
  cell.Add("web", "h/w", 180 * kMiB);
  cell.Add("batch/a", "h/a", 60 * kMiB);
  cell.Begin();
  cell.Run(2);
  ASSERT_THAT(Ledger::Open(path)->acts(), SizeIs(1));
  cell.agent->Stop(cell.now);
  EXPECT_THAT(Ledger::Open(path)->acts(), IsEmpty());
}

TEST(AgentActs, AfterACrashTheNextStartReportsTheEndOfTheThrottleOnce) {
  TierCell cell;
  cell.options.tiers.guard.throttle = true;
  cell.Add("web", "h/w", 180 * kMiB);
  InMemoryTask& batch = cell.Add("batch/a", "h/a", 60 * kMiB);
  cell.Begin();
  cell.Run(2);
  ASSERT_THAT(cell.ledger.acts(), SizeIs(1));
  AgentCell::SetUsage(batch, 20 * kMiB);
  cell.Begin();  // without Stop, as after a crash
  cell.Run(60);
  EXPECT_THAT(Said(cell), ElementsAre("THROTTLE h/a", "RELEASE h/a"));
  EXPECT_THAT(cell.uplink.TierActs()[1].text(), HasSubstr("tautlet was stopped"));
  EXPECT_EQ(batch.limits.memory_high_bytes, std::nullopt);
  EXPECT_THAT(cell.ledger.acts(), IsEmpty());
}

TEST(AgentActs, AnActThatACrashInterruptsIsReportedByTheNextStart) {
  TierCell cell;
  cell.Add("web", "h/w", 150 * kMiB);
  InMemoryTask& batch = cell.Add("batch/a", "h/a", 96 * kMiB);
  // A copy of the ledger's acts, taken before and after each write of a limit.
  LedgerContent then;
  batch.around_write = [&] { then.acts = cell.ledger.acts(); };
  cell.Guard();
  cell.Run(2);
  ASSERT_THAT(then.acts, SizeIs(1)) << "noted before it is done";
  EXPECT_EQ(then.acts.begin()->second, ActState::kBegun);
  const int64_t at_us = cell.uplink.TierActs()[0].time_us();

  // A new agent starts with the copied ledger.
  TierCell next;
  next.ledger.NoteAct(then.acts.begin()->first, ActState::kBegun);
  next.Guard();
  next.Run(1);
  ASSERT_THAT(Said(next), ElementsAre("THROTTLE h/a"));
  EXPECT_EQ(next.uplink.TierActs()[0].time_us(), at_us) << "the same act, should it have been reported";
  EXPECT_THAT(next.uplink.TierActs()[0].text(), HasSubstr("does not know whether it was done"));
  EXPECT_THAT(next.ledger.acts(), IsEmpty());
  next.Run(60);
  EXPECT_THAT(Said(next), SizeIs(1));
}

}  // namespace
}  // namespace taut::node
