// Tests of the gate's decisions on recommendations, mode by mode, and of their sentences.
#include "brain/rollout/gate.h"

#include "brain/rollout/gate_fixture.h"
#include "brain/rollout/maintenance.h"
#include "common/base/byte_units.h"
#include "common/base/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

Proposal Memory(int64_t now_s, std::optional<double> recommended, std::optional<double> owner = 4 * kGiB) {
  return {.resource = Resource::kMemory,
          .now_s = now_s,
          .owner_limit = owner,
          .recommended = recommended,
          .oom = false,
          .num_tasks = 120};
}

// A recommender whose reason has one sentence.
class Reasonable final : public Recommender {
 public:
  void Observe(const Signal&) override {}
  void ObserveOom(const OomEvent&) override {}
  std::optional<double> Recommend(WindowId) override { return 1; }
  void Explain(Reason& reason) const override { reason.why = "usage came near the limit"; }
  std::unique_ptr<Recommender> Clone() const override { return nullptr; }
  size_t state_bytes() const override { return 0; }
  void Save(ByteWriter&) const override {}
  absl::Status Load(ByteReader&) override { return absl::OkStatus(); }
};

// A recommender that forecasts a chance of a fifth below 2 GiB, and allows a chance of a tenth.
class Forecasting final : public Recommender {
 public:
  void Observe(const Signal&) override {}
  void ObserveOom(const OomEvent&) override {}
  std::optional<double> Recommend(WindowId) override { return 2 * kGiB; }
  void UpdateRisk(double limit, LimitRisk& risk) const override {
    risk.limit = limit;
    risk.chance = limit < 2 * kGiB ? 0.2 : 0.05;
    risk.most_chance = 0.1F;
  }
  void Explain(Reason&) const override {}
  std::unique_ptr<Recommender> Clone() const override { return nullptr; }
  size_t state_bytes() const override { return 0; }
  void Save(ByteWriter&) const override {}
  absl::Status Load(ByteReader&) override { return absl::OkStatus(); }
};

// A limit whose chance is above the highest allowed chance is replaced without waiting for the minimum change
// and the period.
TEST(Gate, ALimitAboveTheHighestChanceIsRaisedAtOnce) {
  const Forecasting recommender;
  for (const Mode mode : {Mode::kObserve, Mode::kAuto, Mode::kCanary}) {
    for (const double before : {1.96 * kGiB, 2.04 * kGiB}) {
      GateState state;
      std::optional<double>& ours = mode == Mode::kObserve ? state.shown : state.in_force;
      ours = before;
      state.last_change_s = state.last_shown_s = 600;
      Proposal proposal = Memory(900, before * 1.02);
      proposal.recommender = &recommender;
      const bool raised = Decide(In(mode), proposal, state).kind.has_value();
      EXPECT_EQ(raised, before < 2 * kGiB) << before;
      EXPECT_EQ(*ours, raised ? before * 1.02 : before);
    }
  }
  // The gate does not raise this limit, because the owner chose it.
  GateState owners;
  Proposal proposal = Memory(900, 1.98 * kGiB, 1.96 * kGiB);
  proposal.recommender = &recommender;
  EXPECT_FALSE(Decide(In(Mode::kAuto), proposal, owners).kind.has_value());
}

// A changed bound applies without a recommendation, and does not wait for the minimum change or the period.
TEST(Gate, ALimitOutsideOfItsBoundsOfNowIsMovedToThem) {
  for (const Mode mode : {Mode::kAuto, Mode::kCanary}) {
    JobPolicy policy = In(mode);
    GateState state;
    state.in_force = 1.98 * kGiB;
    state.last_change_s = 600;
    BoundSettings& bounds = policy.bounds_by[IndexOf(Resource::kMemory)];
    bounds.lower = 2 * kGiB;
    const Verdict raised = Decide(policy, Memory(700, std::nullopt), state);
    EXPECT_THAT(raised.kind, Optional(DecisionKind::kSet));
    EXPECT_EQ(raised.sentence, "the lower bound is 2.00 GiB: 2.00 GiB instead of 1.98 GiB, 1.0 % more");
    EXPECT_THAT(state.in_force, Optional(2 * kGiB));
    bounds.lower.reset();
    bounds.upper = kGiB;
    policy.maintenance = {{.days = 1, .start_minute = 60, .end_minute = 120}};
    EXPECT_EQ(Decide(policy, Memory(kMonday, kGiB), state).sentence,
              "waits for the maintenance window Mon 01:00 UTC");
    EXPECT_THAT(Decide(policy, Memory(kMonday + 3600, kGiB), state).after, Optional(kGiB));
    EXPECT_FALSE(Decide(policy, Memory(kMonday + 3601, kGiB), state).kind.has_value());
  }
}

TEST(Gate, ATrialOutsideOfTheBoundsOfNowEnds) {
  JobPolicy policy = In(Mode::kCanary);
  GateState state;
  const std::vector<uint32_t> tasks = {0, 1, 2, 3};
  Proposal proposal = Memory(300, 2 * kGiB);
  proposal.num_tasks = 4;
  proposal.tasks = &tasks;
  ASSERT_THAT(Decide(policy, proposal, state).kind, Optional(DecisionKind::kTry));
  policy.bounds_by[IndexOf(Resource::kMemory)].lower = 2.05 * kGiB;
  proposal.recommended = 2.05 * kGiB;
  proposal.now_s = 600;
  const Verdict ended = Decide(policy, proposal, state);
  EXPECT_THAT(ended.kind, Optional(DecisionKind::kRollBack));
  EXPECT_EQ(ended.sentence, "2.00 GiB is outside of the bounds now");
  EXPECT_EQ(state.rolled_back_s, INT64_MIN) << "nothing is known against it";
}

// The sentence contains the reason without the limits, because front ends show the limits separately.
TEST(Gate, TheSentenceSaysWhyAndDoesNotRepeatTheLimits) {
  const Reasonable recommender;
  for (const Mode mode : {Mode::kObserve, Mode::kAuto}) {
    GateState state;
    Proposal proposal = Memory(300, 2 * kGiB);
    proposal.recommender = &recommender;
    EXPECT_EQ(Decide(In(mode), proposal, state).sentence, "usage came near the limit");
  }
}

TEST(Gate, OffDoesNothingAndReleasesWhatIsInForce) {
  GateState state;
  EXPECT_FALSE(Decide(In(Mode::kOff), Memory(0, kGiB), state).kind.has_value());
  state.in_force = 2 * kGiB;
  const Verdict v = Decide(In(Mode::kOff), Memory(300, kGiB), state);
  EXPECT_THAT(v.kind, Optional(DecisionKind::kRelease));
  EXPECT_THAT(v.before, Optional(2 * kGiB));
  EXPECT_FALSE(v.after.has_value());
  EXPECT_EQ(v.sentence, "mode off: the owner's limit of 4.00 GiB again");
  EXPECT_FALSE(state.in_force.has_value());
  EXPECT_FALSE(Decide(In(Mode::kOff), Memory(600, kGiB), state).kind.has_value());
}

TEST(Gate, ObserveSaysWhatItWouldSetOnceAPeriodAndForChangesThatMatter) {
  const JobPolicy policy = In(Mode::kObserve);
  GateState state;
  EXPECT_EQ(Decide(policy, Memory(0, std::nullopt), state).sentence, "no recommendation yet");
  EXPECT_EQ(Decide(policy, Memory(0, 3.92 * kGiB), state).sentence,
            "2.0 % less than the owner's limit; changes under 5 % wait");
  EXPECT_EQ(Decide(policy, Memory(0, 4.0004 * kGiB), state).sentence,
            "no change: the owner's limit is recommended")
      << "not 0.0 % more";
  const Verdict first = Decide(policy, Memory(300, 2 * kGiB), state);
  EXPECT_THAT(first.kind, Optional(DecisionKind::kWouldSet));
  EXPECT_EQ(first.sentence, "would be 2.00 GiB instead of 4.00 GiB, 50 % less");
  EXPECT_EQ(Decide(policy, Memory(1500, 1.5 * kGiB), state).sentence,
            "the last notice was 20 min ago; limited to one per 60 min");
  EXPECT_EQ(Decide(policy, Memory(7200, 2.02 * kGiB), state).sentence,
            "1.0 % more than the last shown limit; raises under 5 % wait for a day after the last change");
  EXPECT_EQ(Decide(policy, Memory(7200, 2 * kGiB), state).sentence, "");
  EXPECT_THAT(Decide(policy, Memory(7200, 1.5 * kGiB), state).kind, Optional(DecisionKind::kWouldSet));
  Proposal oom = Memory(7500, 1.52 * kGiB);
  oom.oom = true;
  EXPECT_THAT(Decide(policy, oom, state).kind, Optional(DecisionKind::kWouldSet));
  EXPECT_FALSE(state.in_force.has_value());
}

TEST(Gate, AutoLowersOnceAPeriodAndRaisesSooner) {
  const JobPolicy policy = In(Mode::kAuto);
  GateState state;
  const Verdict first = Decide(policy, Memory(0, 2 * kGiB), state);
  EXPECT_THAT(first.kind, Optional(DecisionKind::kSet));
  EXPECT_EQ(first.sentence, "2.00 GiB instead of 4.00 GiB, 50 % less");
  EXPECT_THAT(state.in_force, Optional(2 * kGiB));
  EXPECT_EQ(Decide(policy, Memory(1200, kGiB), state).sentence,
            "the last change was 20 min ago; limited to one per 60 min");
  EXPECT_EQ(Decide(policy, Memory(300, 3 * kGiB), state).sentence,
            "the last change was 5 min ago; limited to one raise per 10 min");
  EXPECT_THAT(Decide(policy, Memory(600, 3 * kGiB), state).kind, Optional(DecisionKind::kSet));
  EXPECT_THAT(Decide(policy, Memory(4200, kGiB), state).kind, Optional(DecisionKind::kSet));
}

TEST(Gate, ANewVersionIsWatchedForADay) {
  for (const Mode mode : {Mode::kAuto, Mode::kCanary, Mode::kObserve}) {
    JobPolicy policy = In(mode);
    policy.version = {"web:2", kMonday, {"web:1"}};
    GateState state;
    const Verdict lower = Decide(policy, Memory(kMonday + 7200, 2 * kGiB), state);
    EXPECT_FALSE(lower.kind.has_value());
    EXPECT_EQ(lower.sentence, "the version web:2 began 2 h ago; no limit is lowered in its first 24 h");
    // After the clock was set back, the version is also watched before its start, but only for a bounded time.
    EXPECT_FALSE(Decide(policy, Memory(kMonday - 300, 2 * kGiB), state).kind.has_value());
    GateState much_earlier;
    EXPECT_EQ(Decide(policy, Memory(kMonday - 2 * kDaySeconds, 2 * kGiB), much_earlier).kind.has_value(),
              mode != Mode::kCanary)
        << "a trial waits for a window";
    policy.watch_version_s = 0;
    GateState unwatched;
    EXPECT_EQ(Decide(policy, Memory(kMonday + 7200, 2 * kGiB), unwatched).kind.has_value(),
              mode != Mode::kCanary);
  }
  JobPolicy policy = In(Mode::kAuto);
  policy.version = {"web:2", kMonday, {}};
  GateState state;
  state.in_force = 2 * kGiB;
  state.last_change_s = kMonday + 7200;
  // A raise waits neither for its period nor for a maintenance window.
  EXPECT_THAT(Decide(policy, Memory(kMonday + 7500, 3 * kGiB), state).kind, Optional(DecisionKind::kSet));
  EXPECT_THAT(Decide(policy, Memory(kMonday + 7800, 4 * kGiB), state).kind, Optional(DecisionKind::kSet));
  EXPECT_FALSE(Decide(policy, Memory(kMonday + 7800 + 7200, 2 * kGiB), state).kind.has_value());
  EXPECT_THAT(Decide(policy, Memory(kMonday + kDaySeconds, 2 * kGiB), state).kind,
              Optional(DecisionKind::kSet))
      << "and after the day all is as before";
  // A version that already ran when the job was first seen has no start time and is not watched.
  policy.version.since_s.reset();
  GateState first;
  EXPECT_THAT(Decide(policy, Memory(kMonday, 2 * kGiB), first).kind, Optional(DecisionKind::kSet));
}

TEST(Gate, ANewVersionEndsATrialAndWhatIsWatched) {
  JobPolicy policy = In(Mode::kCanary);
  const std::vector<uint32_t> tasks = {0, 1, 2, 3};
  GateState state;
  Proposal proposal = Memory(kMonday, 2 * kGiB);
  proposal.num_tasks = 4;
  proposal.tasks = &tasks;
  EXPECT_THAT(Decide(policy, proposal, state).kind, Optional(DecisionKind::kTry));
  policy.version = {"web:2", kMonday + 300, {"web:1"}};
  proposal.now_s = kMonday + 600;
  const Verdict end = Decide(policy, proposal, state);
  EXPECT_THAT(end.kind, Optional(DecisionKind::kRollBack));
  EXPECT_EQ(end.sentence, "the version web:2 began while 2.00 GiB was on trial; it is tried again later");
  EXPECT_EQ(state.rolled_back_limit, 0) << "the limit did no harm";
  proposal.now_s = kMonday + 300 + kDaySeconds;
  EXPECT_THAT(Decide(policy, proposal, state).kind, Optional(DecisionKind::kTry));
  // For a job of one task, a new version ends the watch.
  policy.version = {};
  GateState one;
  proposal.num_tasks = 1;
  EXPECT_FALSE(Decide(policy, proposal, one).kind.has_value());
  EXPECT_TRUE(one.trial.has_value());
  policy.version = {"web:3", proposal.now_s, {}};
  EXPECT_FALSE(Decide(policy, proposal, one).kind.has_value());
  EXPECT_FALSE(one.trial.has_value());
}

// A raise by less than min_change waits for a day after Tautline's last change. Without this raise, usage could
// exceed the limit permanently by a small amount. Such a raise never replaces an owner's limit, which may be
// intended.
TEST(Gate, ASmallRaiseWaitsForADay) {
  for (const Mode mode : {Mode::kAuto, Mode::kCanary, Mode::kObserve}) {
    GateState state;
    EXPECT_FALSE(Decide(In(mode), Memory(0, 4.1 * kGiB), state).kind.has_value());
    EXPECT_FALSE(Decide(In(mode), Memory(2 * kDaySeconds, 4.1 * kGiB), state).kind.has_value());
    ASSERT_TRUE(Decide(In(mode), Memory(3 * kDaySeconds, 8 * kGiB), state).kind.has_value());
    const Verdict held = Decide(In(mode), Memory(4 * kDaySeconds - 300, 8.2 * kGiB), state);
    EXPECT_FALSE(held.kind.has_value());
    EXPECT_THAT(held.sentence, HasSubstr("raises under 5 % wait for a day after the last change"));
    EXPECT_EQ(Decide(In(mode), Memory(4 * kDaySeconds, 8.2 * kGiB), state).after, 8.2 * kGiB);
    EXPECT_FALSE(Decide(In(mode), Memory(9 * kDaySeconds, 8 * kGiB), state).kind.has_value())
        << "not lowered";
  }
}

TEST(Gate, RightAfterAKillNothingIsLowered) {
  GateState state;
  Proposal proposal = Memory(0, kGiB);
  proposal.oom = true;
  for (const Mode mode : {Mode::kAuto, Mode::kCanary}) {
    const Verdict v = Decide(In(mode), proposal, state);
    EXPECT_FALSE(v.kind.has_value());
    EXPECT_EQ(v.sentence, "a task was just OOM-killed; no limit is lowered now");
    EXPECT_FALSE(state.in_force.has_value() || state.trial.has_value());
  }
  proposal.oom = false;
  EXPECT_TRUE(Decide(In(Mode::kAuto), proposal, state).kind.has_value()) << "a window later it is";
}

TEST(Gate, WaitsForTheMaintenanceWindowUnlessATaskWasKilled) {
  JobPolicy policy = In(Mode::kAuto);
  policy.maintenance = *ParseMaintenance("Mon-Fri 22:00-06:00");
  GateState state;
  const int64_t noon = kMonday + 12 * 3600;
  EXPECT_EQ(Decide(policy, Memory(noon, 2 * kGiB), state).sentence,
            "waits for the maintenance window Mon 22:00 UTC");
  EXPECT_THAT(Decide(policy, Memory(kMonday + 22 * 3600, 2 * kGiB), state).kind,
              Optional(DecisionKind::kSet));
  Proposal oom = Memory(noon + kDaySeconds, 2.05 * kGiB);
  oom.oom = true;
  const Verdict v = Decide(policy, oom, state);
  EXPECT_THAT(v.kind, Optional(DecisionKind::kOomRaise));
  EXPECT_EQ(v.sentence, "raised immediately after an OOM kill: 2.05 GiB instead of 2.00 GiB, 2.5 % more");
}

TEST(Gate, AnOwnersLimitOfZeroOrNoneIsNoAmountToCompareWith) {
  GateState without;
  EXPECT_EQ(Decide(In(Mode::kAuto), Memory(0, 2 * kGiB, std::nullopt), without).sentence, "2.00 GiB");
  GateState zero;
  EXPECT_EQ(Decide(In(Mode::kAuto), Memory(0, 2 * kGiB, 0), zero).sentence, "2.00 GiB");
}

TEST(Gate, WhatIsInForceAlreadyAsksForNothing) {
  for (const Mode mode : {Mode::kAuto, Mode::kObserve}) {
    for (const double limit : {0.0, 4 * kGiB}) {
      GateState state;
      const Verdict v = Decide(In(mode), Memory(0, limit, limit), state);
      EXPECT_FALSE(v.kind.has_value()) << limit;
      EXPECT_EQ(v.sentence, "") << limit;
    }
  }
}

}  // namespace
}  // namespace taut::brain
