#include "brain/rollout/replica_gate.h"

#include "brain/rollout/gate_fixture.h"
#include "brain/rollout/maintenance.h"
#include "brain/rollout/rules.h"
#include "common/base/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

JobPolicy ReplicasIn(Mode mode) {
  JobPolicy policy = In(mode);
  policy.replica_policy = "hpa";
  return policy;
}

class Scaled {
 public:
  explicit Scaled(Mode mode) : policy(ReplicasIn(mode)) {}
  // Returns the verdict of the next window with the given numbers of running, recommended and started tasks.
  Verdict Window(int running, std::optional<int> recommended, int started = 0) {
    now_s += kWindowSeconds;
    step_back = NoteRunning(
        {.running = running, .started = started, .startup_windows = startup_windows, .now_s = now_s}, state);
    return DecideReplicas(policy, {.now_s = now_s, .running = running, .recommended = recommended}, state);
  }
  JobPolicy policy;
  ReplicaGateState state;
  int64_t now_s = kMonday;
  int startup_windows = 1;
  std::optional<ReplicaStepBack> step_back;  // result of the last window
};

TEST(ReplicaGate, ObserveSaysWhatAutoWouldSetOnceForEachNumber) {
  Scaled job(Mode::kObserve);
  EXPECT_THAT(job.Window(6, std::nullopt).sentence, HasSubstr("no recommendation"));
  EXPECT_FALSE(job.Window(6, 6).kind.has_value());
  const Verdict verdict = job.Window(6, 9);
  EXPECT_EQ(verdict.kind, DecisionKind::kWouldSet);
  EXPECT_THAT(verdict.before, Optional(6.0));
  EXPECT_THAT(verdict.after, Optional(9.0));
  EXPECT_FALSE(job.Window(6, 9).kind.has_value());
  EXPECT_EQ(job.Window(6, 6).kind, DecisionKind::kWouldSet);
  EXPECT_FALSE(job.state.in_force.has_value());
}

// An order that failed is repeated, because otherwise a number that no actuator could set would not be ordered
// again. A lower number still waits.
TEST(ReplicaGate, AnOrderThatFailedIsGivenOnceMore) {
  Scaled job(Mode::kAuto);
  ASSERT_EQ(job.Window(4, 8).kind, DecisionKind::kSet);
  EXPECT_FALSE(job.Window(4, 8).kind.has_value());
  const auto again = [&](int running, int recommended) {
    job.now_s += kWindowSeconds;
    return DecideReplicas(
        job.policy, {.now_s = job.now_s, .running = running, .recommended = recommended, .repeats = true},
        job.state);
  };
  const Verdict verdict = again(4, 8);
  EXPECT_EQ(verdict.kind, DecisionKind::kSet);
  EXPECT_THAT(verdict.before, Optional(4.0));
  EXPECT_THAT(verdict.after, Optional(8.0));
  EXPECT_THAT(verdict.sentence, HasSubstr("8 tasks once more"));
  EXPECT_THAT(again(8, 6).sentence, HasSubstr("6 tasks instead of 8"))
      << "another number is an order of its own";
  ASSERT_TRUE(SetJobSetting("maintenance", "Sun 02:00-03:00", job.policy).ok());
  const Verdict waits = again(8, 6);
  EXPECT_FALSE(waits.kind.has_value());
  EXPECT_THAT(waits.sentence, HasSubstr("maintenance window"));
}

TEST(ReplicaGate, AutoOrdersEachChangeAndCanaryIsAuto) {
  for (const Mode mode : {Mode::kAuto, Mode::kCanary}) {
    Scaled job(mode);
    const Verdict up = job.Window(6, 9);
    EXPECT_EQ(up.kind, DecisionKind::kSet);
    EXPECT_THAT(up.before, Optional(6.0));
    EXPECT_THAT(up.after, Optional(9.0));
    EXPECT_FALSE(job.Window(7, 9).kind.has_value()) << "tasks are starting";
    EXPECT_EQ(job.Window(9, 8).kind, DecisionKind::kSet);
  }
}

TEST(ReplicaGate, ALowerNumberWaitsForThePeriodAndTheMaintenanceWindowAHigherOneDoesNot) {
  Scaled job(Mode::kAuto);
  job.policy.replica_change_period_s = 900;
  job.policy.maintenance = *ParseMaintenance("Mon 02:00-03:00");
  EXPECT_EQ(job.Window(6, 9).kind, DecisionKind::kSet);
  EXPECT_EQ(job.Window(9, 12).kind, DecisionKind::kSet);
  EXPECT_THAT(job.Window(12, 8).sentence, HasSubstr("replicas.change_period"));
  job.now_s += 900;
  EXPECT_THAT(job.Window(12, 8).sentence, HasSubstr("maintenance window"));
  EXPECT_EQ(job.Window(12, 13).kind, DecisionKind::kSet);
  job.now_s = kMonday + 2 * 3600;
  EXPECT_EQ(job.Window(13, 8).kind, DecisionKind::kSet);
}

// With an HPA on the workload, orders of Tautline and of the HPA would replace each other without end.
TEST(ReplicaGate, StepsBackWhenAnotherProgramSetsTheNumber) {
  Scaled job(Mode::kAuto);
  EXPECT_EQ(job.Window(6, 9).kind, DecisionKind::kSet);
  EXPECT_FALSE(job.Window(9, 9).kind.has_value());
  EXPECT_FALSE(job.Window(4, 9).kind.has_value()) << "one window may be a restart of tasks";
  EXPECT_FALSE(job.Window(9, 9).kind.has_value());
  EXPECT_THAT(job.Window(4, 4).sentence, HasSubstr("4 tasks run instead of the ordered 9"));
  const Verdict back = job.Window(4, 9);
  EXPECT_FALSE(back.kind.has_value());
  EXPECT_THAT(back.sentence, HasSubstr("changed to 4 without an order"));
  ASSERT_TRUE(job.step_back.has_value());
  EXPECT_EQ(job.step_back->until_s, job.now_s + kStepBackSeconds);
  EXPECT_THAT(Describe(*job.step_back), HasSubstr("4 tasks run instead of the ordered 9 without an order"));
  EXPECT_FALSE(job.state.in_force.has_value());
  for (int i = 0; i < 11; ++i) EXPECT_FALSE(job.Window(4, 9).kind.has_value());
  EXPECT_EQ(job.Window(4, 9).kind, DecisionKind::kSet) << "an hour later";
}

// Tasks that start slowly, and orders that no actuator carries out, do not indicate another program.
TEST(ReplicaGate, ANumberThatWasNeverReachedIsNobodyElses) {
  Scaled job(Mode::kAuto);
  EXPECT_EQ(job.Window(6, 9).kind, DecisionKind::kSet);
  for (int i = 0; i < 50; ++i) EXPECT_FALSE(job.Window(6, 9).kind.has_value());
  EXPECT_THAT(job.state.in_force, Optional(9));
}

// An HPA on a workload with a webhook replaces each order by the HPA's number before the next window.
TEST(ReplicaGate, StepsBackWhenItsOrdersAreNotReachedAndTheNumberMovesAgainstThem) {
  Scaled job(Mode::kAuto);
  EXPECT_EQ(job.Window(6, 9).kind, DecisionKind::kSet);
  EXPECT_FALSE(job.Window(7, 9).kind.has_value()) << "on its way";
  EXPECT_FALSE(job.Window(6, 9).kind.has_value());
  EXPECT_FALSE(job.step_back.has_value());
  job.Window(5, 9);
  ASSERT_TRUE(job.step_back.has_value()) << "15 min after the order it moves away";
  EXPECT_EQ(job.step_back->ordered, 9);
  EXPECT_EQ(job.step_back->running, 5);
  EXPECT_FALSE(job.state.in_force.has_value());
  // The gate also steps back if the load changes and each window has another order.
  Scaled restless(Mode::kAuto);
  int windows = 0;
  for (int running = 12; running > 4 && !restless.step_back.has_value(); --running, ++windows)
    restless.Window(running, 15 + windows);
  EXPECT_TRUE(restless.step_back.has_value());
  EXPECT_LE(windows, 6);
}

TEST(ReplicaGate, ARolloutIsNoOtherProgram) {
  Scaled job(Mode::kAuto);
  job.Window(6, 8);
  EXPECT_FALSE(job.Window(8, 8).kind.has_value());
  ASSERT_TRUE(job.state.reached);
  // A rollout starts two new tasks at a time while old tasks end, and pauses while new tasks start.
  for (const auto& [running, started] :
       {std::pair(10, 2), {10, 0}, {12, 4}, {12, 4}, {10, 2}, {10, 0}, {10, 2}}) {
    EXPECT_FALSE(job.Window(running, 8, started).kind.has_value()) << running;
    EXPECT_FALSE(job.step_back.has_value()) << running;
  }
  EXPECT_THAT(job.Window(16, 6, 8).sentence, HasSubstr("no lower number is ordered until it is known"));
  EXPECT_FALSE(job.Window(8, 8).kind.has_value());
  EXPECT_THAT(job.state.in_force, Optional(8));
  // Unlike in a rollout, tasks that another program started do not end.
  job.Window(12, 8, 4);
  job.Window(12, 8);
  EXPECT_FALSE(job.step_back.has_value());
  job.Window(12, 8);
  EXPECT_TRUE(job.step_back.has_value());
}

TEST(ReplicaGate, TasksThatStartSlowlyHaveLonger) {
  Scaled job(Mode::kAuto);
  job.startup_windows = 3;
  job.Window(8, 8);
  job.Window(8, 9);
  job.Window(9, 9);
  for (int i = 0; i < 3; ++i) {
    job.Window(11, 9);
    EXPECT_FALSE(job.step_back.has_value()) << i;
  }
  job.Window(11, 9);
  EXPECT_TRUE(job.step_back.has_value());
}

TEST(ReplicaGate, WhoeverTakesThePolicyOrTheModeAwayGetsTheNumberBack) {
  for (const bool by_mode : {false, true}) {
    Scaled job(Mode::kAuto);
    EXPECT_EQ(job.Window(6, 9).kind, DecisionKind::kSet);
    if (by_mode) job.policy.mode = Mode::kObserve;
    if (!by_mode) job.policy.replica_policy = "";
    const Verdict released = job.Window(9, 9);
    EXPECT_EQ(released.kind, DecisionKind::kRelease);
    EXPECT_FALSE(released.after.has_value());
    EXPECT_FALSE(job.Window(9, 9).kind.has_value());
  }
}

TEST(ReplicaGate, RedoBringsTheStateBack) {
  Scaled job(Mode::kAuto);
  const Verdict verdict = job.Window(6, 9);
  Decision d;
  d.kind = *verdict.kind;
  d.after = verdict.after;
  d.time_s = job.now_s;
  ReplicaGateState redone;
  Redo(d, redone);
  std::string stored, wanted;
  ByteWriter out(&stored), other(&wanted);
  redone.Save(out);
  job.state.Save(other);
  EXPECT_EQ(stored, wanted);
  ReplicaGateState loaded;
  ByteReader in(stored);
  ASSERT_TRUE(loaded.Load(in).ok());
  EXPECT_THAT(loaded.in_force, Optional(9));
  ByteReader cut(std::string_view(stored).substr(0, 10));
  EXPECT_FALSE(loaded.Load(cut).ok());
}

TEST(ReplicaSettingsOfJobs, AreReadFromRulesWithTheirErrors) {
  JobPolicy policy;
  EXPECT_EQ(GetJobSetting("replicas.policy", policy), "none");
  ASSERT_TRUE(SetJobSetting("replicas.policy", "forecast", policy).ok());
  ASSERT_TRUE(SetJobSetting("replicas.max", "40", policy).ok());
  ASSERT_TRUE(SetJobSetting("replicas.hpa.target", "0.6", policy).ok());
  EXPECT_EQ(policy.replicas.bounds.max, 40);
  EXPECT_EQ(GetJobSetting("replicas.hpa.target", policy), "0.6");
  EXPECT_THAT(SetJobSetting("replicas.policy", "hpb", policy).message(),
              HasSubstr("expected one of none, static, autopilot, hpa, keda, function, forecast"));
  ASSERT_TRUE(SetJobSetting("replicas.function.target", " load / (0.6 * capacity) ", policy).ok());
  EXPECT_EQ(GetJobSetting("replicas.function.target", policy), "load / (0.6 * capacity)");
  EXPECT_EQ(SetJobSetting("replicas.function.target", "load / 0", policy).message(),
            "replicas.function.target: character 6: division by zero");
  EXPECT_THAT(SetJobSetting("replicas.max", "many", policy).message(), HasSubstr("\"many\" is not a number"));
  EXPECT_THAT(SetJobSetting("replicas.pollicy", "hpa", policy).message(), HasSubstr("\"replicas.policy\""));
  ASSERT_TRUE(SetJobSetting("replicas.min", "50", policy).ok());
  EXPECT_THAT(CheckJobPolicy(policy).message(), HasSubstr("at most replicas.max, 40"));
  ASSERT_TRUE(SetJobSetting("replicas.policy", "none", policy).ok());
  EXPECT_TRUE(policy.replica_policy.empty());
}

TEST(ReplicaGate, ComesBackFromBytesInEachField) {
  for (const auto& [reached, unreached] : {std::pair(true, 0), {false, 0}, {false, 5}}) {
    ReplicaGateState state;
    state.in_force = 0;
    state.shown = 7;
    state.last_change_s = 1234;
    state.reached = reached;
    state.unreached = static_cast<uint8_t>(unreached);
    state.elsewhere = 3;
    state.step_back_until_s = 5678;
    std::string bytes, again;
    ByteWriter out(&bytes), other(&again);
    state.Save(out);
    ReplicaGateState loaded;
    ByteReader in(bytes);
    ASSERT_TRUE(loaded.Load(in).ok());
    EXPECT_THAT(loaded.in_force, Optional(0));
    EXPECT_THAT(loaded.shown, Optional(7));
    EXPECT_EQ(loaded.last_change_s, 1234);
    EXPECT_EQ(loaded.reached, reached);
    EXPECT_EQ(int{loaded.unreached}, unreached);
    EXPECT_EQ(int{loaded.elsewhere}, 3);
    EXPECT_EQ(loaded.step_back_until_s, 5678);
    loaded.Save(other);
    EXPECT_EQ(again, bytes);
  }
}

TEST(ReplicaGate, CountsOfALongTimeComeBackAsFarAsTheyAreCounted) {
  Scaled job(Mode::kAuto);
  job.Window(6, 9);
  for (int i = 0; i < 300; ++i) job.Window(6, 9);
  EXPECT_EQ(int{job.state.unreached}, 200);
  std::string bytes;
  ByteWriter out(&bytes);
  job.state.Save(out);
  ReplicaGateState loaded;
  ByteReader in(bytes);
  ASSERT_TRUE(loaded.Load(in).ok());
  EXPECT_EQ(int{loaded.unreached}, 200);
}

// A release, a step back and a stored decision reset the counts of the last order.
TEST(ReplicaGate, ReleaseStepBackAndRedoBeginAnew) {
  ReplicaGateState counted;
  counted.in_force = 9;
  counted.reached = true;
  counted.elsewhere = 1;
  counted.unreached = 4;
  counted.nearest = 2;
  counted.last_change_s = 5;

  Scaled released(Mode::kOff);
  released.state = counted;
  const int64_t before = released.now_s;
  EXPECT_EQ(
      DecideReplicas(released.policy, {.now_s = before, .running = 4, .recommended = 4}, released.state).kind,
      DecisionKind::kRelease);
  EXPECT_FALSE(released.state.reached);
  EXPECT_EQ(released.state.elsewhere + released.state.unreached, 0);
  EXPECT_EQ(released.state.last_change_s, before);

  ReplicaGateState stepped = counted;
  ASSERT_TRUE(NoteRunning({.running = 4, .now_s = 600}, stepped).has_value());
  EXPECT_FALSE(stepped.reached);
  EXPECT_EQ(stepped.elsewhere + stepped.unreached, 0);
  EXPECT_EQ(stepped.nearest, -1);

  ReplicaGateState redone = counted;
  Decision d;
  d.kind = DecisionKind::kSet;
  d.after = 12;
  d.time_s = 700;
  Redo(d, redone);
  EXPECT_FALSE(redone.reached);
  EXPECT_EQ(redone.elsewhere, 0);
  EXPECT_EQ(redone.nearest, -1);
  d.kind = DecisionKind::kWouldSet;
  d.after = 15;
  Redo(d, redone);
  EXPECT_THAT(redone.shown, Optional(15));
  EXPECT_THAT(redone.in_force, Optional(12));
}

TEST(ReplicaGate, ALowerNumberComesWhenThePeriodIsOver) {
  Scaled job(Mode::kAuto);
  job.policy.replica_change_period_s = 600;
  EXPECT_EQ(job.Window(6, 9).kind, DecisionKind::kSet);
  EXPECT_FALSE(job.Window(9, 8).kind.has_value());
  EXPECT_EQ(job.Window(9, 8).kind, DecisionKind::kSet) << "600 s later";
}

// A new order does not count as reached while the tasks of the last order are starting or stopping.
TEST(ReplicaGate, AnOrderThatFollowsAReachedOneIsNotReachedYet) {
  Scaled job(Mode::kAuto);
  job.Window(6, 9);
  job.Window(9, 9);
  ASSERT_TRUE(job.state.reached);
  EXPECT_EQ(job.Window(9, 15).kind, DecisionKind::kSet);
  EXPECT_FALSE(job.state.reached);
  EXPECT_EQ(job.state.nearest, 6);
  for (int i = 0; i < 3; ++i) job.Window(9, 15);
  EXPECT_FALSE(job.step_back.has_value());
}

// Only a distance above the nearest number so far counts as a move away from the order.
TEST(ReplicaGate, TheNearestThatItCameIsRemembered) {
  Scaled job(Mode::kAuto);
  job.Window(6, 12);
  job.Window(10, 12);
  EXPECT_EQ(job.state.nearest, 2);
  job.Window(8, 12);
  EXPECT_EQ(job.state.nearest, 2);
  EXPECT_EQ(job.state.elsewhere, 1);
  // After a restart `nearest` is unknown, and the first window sets it.
  job.state.nearest = -1;
  job.state.elsewhere = 0;
  job.Window(7, 12);
  EXPECT_EQ(job.state.nearest, 5);
  EXPECT_EQ(job.state.elsewhere, 0);
}

// The order equals the running number, which another program has set and changes further.
TEST(ReplicaGate, AnOrderOfWhatRunsAlreadyIsMovedAwayFromAtOnce) {
  Scaled job(Mode::kAuto);
  job.Window(6, 9);
  EXPECT_EQ(job.Window(12, 12).kind, DecisionKind::kSet);
  EXPECT_EQ(job.state.nearest, 0);
  job.Window(11, 12);
  job.Window(11, 12);
  EXPECT_TRUE(job.step_back.has_value());
}

TEST(ReplicaGate, WindowsElsewhereAreCountedTo200) {
  Scaled job(Mode::kAuto);
  job.startup_windows = 300;
  job.Window(8, 8);
  job.Window(8, 9);
  job.Window(9, 9);
  for (int i = 0; i < 250; ++i) job.Window(11, 9);
  EXPECT_EQ(int{job.state.elsewhere}, 200);
  EXPECT_FALSE(job.step_back.has_value());
}

TEST(ReplicaGate, AnOrderThatIsNotReachedHasLongerWhereTasksStartSlowly) {
  Scaled job(Mode::kAuto);
  job.startup_windows = 3;
  job.Window(6, 12);
  for (int i = 0; i < 4; ++i) {
    job.Window(5, 12);
    EXPECT_FALSE(job.step_back.has_value()) << i;
  }
  job.Window(5, 12);
  EXPECT_TRUE(job.step_back.has_value()) << "5 windows instead of 3";
}

TEST(ReplicaGate, ARolloutIsOverWhenTheNumberIsAsOrdered) {
  Scaled job(Mode::kAuto);
  job.Window(8, 8);
  job.Window(8, 9);
  job.Window(9, 9);
  job.Window(11, 9, 2);
  EXPECT_TRUE(job.state.rolling);
  job.Window(9, 9);
  EXPECT_FALSE(job.state.rolling);
  EXPECT_EQ(job.Window(9, 7).kind, DecisionKind::kSet);
}

// The number alternates between 2 and 3. In every mode, each rise after a fall prolongs the wait of the next
// fall.
TEST(ReplicaGate, NumbersThatGoBackAndForthAreDamped) {
  for (const Mode mode : {Mode::kAuto, Mode::kObserve}) {
    Scaled job(mode);
    const auto windows_of_fall = [&](int low, int high) {  // windows until the lower number is accepted
      int windows = 1;
      while (!job.Window(high, low).kind.has_value() && windows < 100) ++windows;
      EXPECT_TRUE(job.Window(low, high).kind.has_value()) << "a higher number never waits";
      return windows;
    };
    job.Window(2, 2);
    job.Window(2, 3);
    std::vector<int> windows;
    for (int i = 0; i < 7; ++i) windows.push_back(windows_of_fall(2, 3));
    EXPECT_THAT(windows, testing::ElementsAre(1, 1, 2, 4, 8, 12, 12)) << "5 minutes to an hour";
    EXPECT_THAT(
        job.Window(3, 2).sentence,
        HasSubstr("7 lower numbers in a row were taken back within hours; the next one waits 60 min"));
    // A fall without a rise within kReversalSeconds ends the series of reversals.
    job.now_s += kReversalSeconds;
    EXPECT_TRUE(job.Window(3, 2).kind.has_value());
    job.now_s += kReversalSeconds;
    EXPECT_TRUE(job.Window(2, 3).kind.has_value());
    EXPECT_TRUE(job.Window(3, 2).kind.has_value()) << "the next window";
  }
}

TEST(ReplicaGate, DampingCanBeOffAndIsSaved) {
  Scaled job(Mode::kAuto);
  job.policy.replica_settle_s = 0;
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(job.Window(2, 3).kind.has_value());
    EXPECT_TRUE(job.Window(3, 2).kind.has_value()) << i;
  }
  std::string bytes;
  ByteWriter out(&bytes);
  job.state.damping.Save(out);
  ReplicaDamping read;
  ByteReader in(bytes);
  read.Load(in);
  EXPECT_FALSE(in.failed());
  EXPECT_EQ(read.HoldSeconds(300), job.state.damping.HoldSeconds(300));
  EXPECT_EQ(read.reversals, 4);
  // Decisions that are applied again after a checkpoint also count as reversals.
  ReplicaGateState redone;
  for (const double after : {3.0, 2.0, 3.0}) {
    const double before = after == 2 ? 3 : 2;
    Decision decision;
    decision.kind = DecisionKind::kSet;
    decision.time_s = 100;
    decision.before = before;
    decision.after = after;
    Redo(decision, redone);
  }
  EXPECT_EQ(redone.damping.reversals, 1);
}

}  // namespace
}  // namespace taut::brain
