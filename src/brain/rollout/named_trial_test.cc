// Tests of trials with enforced limits: which tasks are selected, and that only windows at the trial's limit
// count.
#include "brain/rollout/gate.h"
#include "common/base/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

// A job in mode canary with an owner's limit of 4 cores and a recommendation of 1 core. Windows last 300 s.
class NamedTrialTest : public ::testing::Test {
 protected:
  NamedTrialTest() {
    policy_.mode = Mode::kCanary;
    policy_.canary.share = 0.5;
    policy_.canary.min_task_windows = 20;
    Alive(0, 10);
  }
  void Alive(uint32_t first, uint32_t last) {
    alive_.clear();
    for (uint32_t t = first; t < last; ++t) alive_.push_back(t);
  }
  Verdict Ask() {
    Proposal p = {.resource = Resource::kCpu, .now_s = now_s_, .owner_limit = 4.0, .recommended = 1.0};
    p.num_tasks = static_cast<uint32_t>(alive_.size());
    p.tasks = &alive_;
    p.applied = applied_;
    const Verdict v = Decide(policy_, p, state_);
    if (v.kind == DecisionKind::kTry) state_.trial->decision = 7;
    return v;
  }
  // Adds a window in which the tasks on trial ran at `applied` cores and were throttled in `throttled` of 3,000
  // periods.
  void Window(float applied, uint32_t throttled = 0, uint32_t rest_throttled = 0) {
    std::vector<TaskUsage> tasks;
    std::vector<TaskReport> reports;
    std::vector<TaskThrottling> counted;
    for (const uint32_t t : alive_) {
      const bool member = state_.trial.has_value() && state_.trial->Has(t);
      tasks.push_back({t, 0.1F, 0.2F});
      TaskReport& r = reports.emplace_back();
      r.task = t;
      r.managed = r.cpu_steady = r.memory_steady = true;
      r.cpu_limit_cores = member ? applied : 4.0F;
      r.cpu_periods = 3000;
      r.cpu_throttled_periods = member ? throttled : rest_throttled;
      counted.push_back({t, r.cpu_periods, r.cpu_throttled_periods});
    }
    Signal signal;
    signal.window = WindowId::Of(Timestamp::FromSeconds(now_s_));
    signal.tasks = tasks;
    signal.owner_limit = 4;
    const bool agents = applied_ == LimitsApplied::kAgentsReport;
    if (agents) counted.clear();
    if (!agents) reports.clear();
    CountTrialWindow({Resource::kCpu, &signal, reports, applied_, counted}, state_);
    now_s_ += kWindowSeconds;
  }
  // Adds at most `windows` windows until a decision, and returns the last verdict.
  Verdict Run(int windows, float applied, uint32_t throttled = 0, uint32_t rest_throttled = 0) {
    Verdict v;
    for (int i = 0; i < windows && !v.kind.has_value(); ++i) {
      Window(applied, throttled, rest_throttled);
      v = Ask();
    }
    return v;
  }

  void Say(Outcome outcome, std::string text = "") {
    NoteTrialOutcome({.id = 7, .outcome = outcome, .text = std::move(text), .time_s = now_s_}, state_);
  }

  LimitsApplied applied_ = LimitsApplied::kAgentsReport;
  JobPolicy policy_;
  GateState state_;
  std::vector<uint32_t> alive_;
  int64_t now_s_ = 0;
};

TEST_F(NamedTrialTest, IsOfTasksThatAreAlive) {
  Alive(10, 20);  // all tasks are replaced, as in a rollout
  EXPECT_THAT(Ask().sentence, HasSubstr("tried on 5 of 10 tasks"));
  ASSERT_EQ(state_.trial->members.size(), 5U);
  for (const TrialTask& t : state_.trial->members) EXPECT_GE(t.number, 10U);
  EXPECT_THAT(Run(1000, 1.0F).kind, Optional(DecisionKind::kPromote));
}

TEST_F(NamedTrialTest, ReplacesTasksThatEnd) {
  Ask();
  Run(10, 1.0F);
  Alive(10, 20);
  Run(2, 1.0F);
  size_t here = 0;
  for (const TrialTask& t : state_.trial->members) here += t.number >= 10 ? 1 : 0;
  EXPECT_EQ(here, 5U);
  EXPECT_THAT(Run(1000, 1.0F).kind, Optional(DecisionKind::kPromote));
}

TEST_F(NamedTrialTest, EndsWithoutPromotionIfItsLimitIsAppliedNowhere) {
  Ask();
  const Verdict v = Run(1000, 4.0F);
  EXPECT_THAT(v.kind, Optional(DecisionKind::kRollBack));
  EXPECT_EQ(v.sentence, "1.00 cores was not applied to any task on trial within 6 h");
  EXPECT_FALSE(state_.in_force.has_value());
}

TEST_F(NamedTrialTest, EndsSoonIfTheOrderIsRefused) {
  Ask();
  OutcomeUpdate refused;
  refused.id = 7;
  refused.outcome = Outcome::kDryRun;
  refused.text = "no agent has the tasks it is for";
  NoteTrialOutcome(refused, state_);
  const Verdict v = Run(3, 4.0F);
  EXPECT_THAT(v.kind, Optional(DecisionKind::kRollBack));
  EXPECT_EQ(v.sentence, "1.00 cores was not applied to any task on trial: no agent has the tasks it is for");
}

TEST_F(NamedTrialTest, ALimitThatAgentsRaisedIsNoEvidence) {
  Ask();
  OutcomeUpdate applied;
  applied.id = 7;
  NoteTrialOutcome(applied, state_);
  const Verdict v = Run(1000, 1.56F);
  EXPECT_THAT(v.kind, Optional(DecisionKind::kRollBack));
  EXPECT_THAT(v.sentence, HasSubstr("no task ran at it"));
  EXPECT_FALSE(state_.trial.has_value());
  now_s_ += kDaySeconds;
  EXPECT_THAT(Ask().sentence, HasSubstr("failed a trial")) << "not tried again at once";
}

TEST_F(NamedTrialTest, RaisedInMostWindowsIsNotPromoted) {
  Ask();
  Run(30, 1.0F);
  const Verdict v = Run(1000, 1.56F);
  EXPECT_THAT(v.kind, Optional(DecisionKind::kRollBack));
  EXPECT_THAT(v.sentence, HasSubstr("had another limit than 1.00 cores"));
}

TEST_F(NamedTrialTest, ThrottlingCountsAgainstTheRest) {
  Ask();
  Verdict v = Run(1000, 1.0F, 300, 3);
  EXPECT_THAT(v.kind, Optional(DecisionKind::kRollBack));
  EXPECT_THAT(v.sentence, HasSubstr("throttled in 10 % of periods; the other tasks: 0.1 %"));
  EXPECT_LT(now_s_, 7200);
  state_ = GateState();
  Ask();
  v = Run(1000, 1.0F, 300, 300);
  EXPECT_THAT(v.kind, Optional(DecisionKind::kPromote)) << "the rest is throttled as much";
}

// Without agents, a cluster's kubelets count the periods. The actuator reports the time from which limits apply.
TEST_F(NamedTrialTest, ThrottlingCountsAlsoWhereNoAgentReports) {
  applied_ = LimitsApplied::kActuatorSays;
  Ask();
  Window(1.0F, 3000, 0);  // the limit is not applied yet
  Say(Outcome::kApplied);
  Window(1.0F, 3000, 0);  // the window may have ended before the limit was applied
  Window(1.0F, 3000, 0);  // the limit may have been applied in this window
  EXPECT_EQ(state_.trial->tasks.periods, 0U);
  EXPECT_EQ(state_.trial->tasks.task_windows, 0U);
  Verdict v = Run(1000, 1.0F, 300, 3);
  EXPECT_THAT(v.kind, Optional(DecisionKind::kRollBack));
  EXPECT_THAT(v.sentence, HasSubstr("throttled in 10 % of periods; the other tasks: 0.1 %"));
  EXPECT_LT(now_s_, 7200);
  state_ = GateState();
  Ask();
  Say(Outcome::kApplied);
  v = Run(1000, 1.0F, 300, 300);
  EXPECT_THAT(v.kind, Optional(DecisionKind::kPromote)) << "the rest is throttled as much";
}

TEST_F(NamedTrialTest, AKillAtAnotherLimitIsNotTheTrials) {
  Ask();
  const uint32_t member = state_.trial->members[0].number;
  CountTrialOom(member, 1, 4.0 * (1 << 30), state_);
  EXPECT_EQ(state_.trial->tasks.ooms, 0U);
  CountTrialOom(member, 1, 0.5, state_);
  EXPECT_EQ(state_.trial->tasks.ooms, 1U);
}

TEST_F(NamedTrialTest, IsSavedWithItsTasks) {
  Ask();
  Run(3, 1.0F, 5);
  state_.trial->members[2].name = "web-2";
  state_.trial->refusal = "why";
  state_.floor = 6e6;
  state_.trial->delivered_s = 4321;
  std::string bytes;
  ByteWriter out(&bytes);
  state_.Save(out);
  GateState loaded;
  ByteReader in(bytes);
  ASSERT_TRUE(loaded.Load(in).ok());
  EXPECT_EQ(in.remaining(), 0U);
  ASSERT_TRUE(loaded.trial.has_value());
  EXPECT_EQ(loaded.trial->members[2].name, "web-2");
  EXPECT_EQ(loaded.trial->members[4].number, state_.trial->members[4].number);
  EXPECT_EQ(loaded.trial->tasks.throttled, state_.trial->tasks.throttled);
  EXPECT_EQ(loaded.trial->decision, 7U);
  EXPECT_EQ(loaded.trial->refusal, "why");
  EXPECT_EQ(loaded.trial->delivered_s, 4321);
  EXPECT_EQ(loaded.floor, 6e6);
}

// A state of version 1 identifies tasks of a trial by number.
TEST_F(NamedTrialTest, AStateOfTheFirstVersionIsRead) {
  std::string bytes;
  ByteWriter out(&bytes);
  out.Put(uint8_t{1});
  out.Put(2.0);  // limit in force
  out.Put(-1.0);
  out.Put(int64_t{100});
  out.Put(INT64_MIN);
  out.Put(0.0);
  out.Put(INT64_MIN);
  out.Put(uint8_t{1});
  out.Put(1.0);
  out.Put(2.0);
  out.Put(int64_t{100});
  out.Put(uint8_t{0});
  for (int side = 0; side < 2; ++side) {
    for (int i = 0; i < 3; ++i) out.PutVarint(0);
    out.Put(0.0);
    out.Put(0.0);
  }
  ByteReader in(bytes);
  ASSERT_TRUE(state_.Load(in).ok());
  EXPECT_THAT(state_.in_force, Optional(2.0));
  ASSERT_TRUE(state_.trial.has_value());
  now_s_ = 400;
  const Verdict v = Ask();
  EXPECT_THAT(v.kind, Optional(DecisionKind::kRollBack));
  EXPECT_THAT(v.sentence, HasSubstr("the tasks on trial are unknown"));
}

// A state of version 2 lacks the time of delivery.
TEST_F(NamedTrialTest, AStateOfTheSecondVersionIsRead) {
  Ask();
  Run(3, 1.0F, 5);
  state_.floor = 6e6;
  state_.trial->delivered_s = 4321;
  std::string bytes;
  ByteWriter out(&bytes);
  state_.Save(out);
  bytes[0] = 2;
  bytes.resize(bytes.size() - sizeof(int64_t));
  GateState loaded;
  ByteReader in(bytes);
  ASSERT_TRUE(loaded.Load(in).ok());
  EXPECT_EQ(in.remaining(), 0U);
  ASSERT_TRUE(loaded.trial.has_value());
  EXPECT_EQ(loaded.floor, 6e6);
  EXPECT_EQ(loaded.trial->members.size(), state_.trial->members.size());
  EXPECT_EQ(loaded.trial->delivered_s, Trial().delivered_s);
}

// In Kubernetes no agent reports limits, but the actuator reports when the pods have the trial's limit.
TEST_F(NamedTrialTest, CountsOnceTheActuatorSaysThatItIsApplied) {
  applied_ = LimitsApplied::kActuatorSays;
  ASSERT_EQ(Ask().kind, DecisionKind::kTry);
  for (int i = 0; i < 3; ++i) Window(1);
  EXPECT_EQ(state_.trial->tasks.task_windows, 0U);
  EXPECT_EQ(state_.trial->rest.task_windows, 0U);
  Say(Outcome::kApplied);
  EXPECT_EQ(Run(600, 1).kind, DecisionKind::kPromote);
}

TEST_F(NamedTrialTest, EndsIfTheActuatorNeverSaysThatItIsApplied) {
  applied_ = LimitsApplied::kActuatorSays;
  ASSERT_EQ(Ask().kind, DecisionKind::kTry);
  Say(Outcome::kPending);
  const Verdict v = Run(600, 1);
  EXPECT_EQ(v.kind, DecisionKind::kRollBack);
  EXPECT_THAT(v.sentence, HasSubstr("was not applied to any task"));
}

// A webhook whose endpoint refuses the order ends the trial, although no limits are reported.
TEST_F(NamedTrialTest, ARefusedOrderIsNoDryRun) {
  applied_ = LimitsApplied::kNo;
  ASSERT_EQ(Ask().kind, DecisionKind::kTry);
  Window(1);
  Say(Outcome::kFailed, "409 Conflict");
  std::string state;
  ByteWriter out(&state);
  state_.Save(out);
  ByteReader in(state);
  ASSERT_TRUE(state_.Load(in).ok());
  const Verdict refused = Run(600, 1);
  EXPECT_EQ(refused.kind, DecisionKind::kRollBack);
  EXPECT_THAT(refused.sentence, HasSubstr("409 Conflict"));
  // A dry run also reports an outcome, but the trial continues.
  state_ = GateState();
  now_s_ += 40 * kDaySeconds;
  ASSERT_EQ(Ask().kind, DecisionKind::kTry);
  Say(Outcome::kDryRun);
  EXPECT_EQ(Run(600, 1).kind, DecisionKind::kPromote);
}

constexpr int64_t kLater = 100 * kDaySeconds;  // a recent time, because trials do not take place in 1970

// After a quarter of canary.hours the trial ends without a back-off, because the limit is not the cause.
TEST_F(NamedTrialTest, IsAppliedNowhereForAQuarterOfItsTime) {
  now_s_ = kLater;
  Ask();
  EXPECT_FALSE(Run(71, 4.0F).kind.has_value());
  EXPECT_THAT(Run(1, 4.0F).kind, Optional(DecisionKind::kRollBack)) << "6 h";
  EXPECT_EQ(state_.rolled_back_s, INT64_MIN);
}

TEST_F(NamedTrialTest, ARefusalEndsItTwoWindowsAfterItsStart) {
  now_s_ = kLater;
  Ask();
  Say(Outcome::kDryRun);
  EXPECT_FALSE(Run(1, 4.0F).kind.has_value()) << "may have been sent in the middle of a window";
  EXPECT_THAT(Run(1, 4.0F).kind, Optional(DecisionKind::kRollBack));
}

TEST_F(NamedTrialTest, DeliveredButReportedNowhereIsNotItsFault) {
  Ask();
  Say(Outcome::kApplied);
  now_s_ += 6 * 3600;
  const Verdict v = Ask();
  EXPECT_THAT(v.kind, Optional(DecisionKind::kRollBack));
  EXPECT_THAT(v.sentence, HasSubstr("was not applied to any task"));
  EXPECT_EQ(state_.rolled_back_s, INT64_MIN);
}

TEST_F(NamedTrialTest, OnlyOutcomesOfItsOwnOrderCount) {
  NoteTrialOutcome({.id = 7, .outcome = Outcome::kFailed, .text = "", .time_s = 0}, state_);  // no trial runs
  Ask();
  NoteTrialOutcome({.id = 6, .outcome = Outcome::kFailed, .text = "another's", .time_s = 0}, state_);
  EXPECT_FALSE(state_.trial->refused);
  state_.trial->decision = 0;  // the id of the trial's decision is unknown
  NoteTrialOutcome({.id = 0, .outcome = Outcome::kFailed, .text = "whose?", .time_s = 0}, state_);
  EXPECT_FALSE(state_.trial->refused);
}

TEST_F(NamedTrialTest, ThrottlingIsJudgedFromTheLeastNumberOfWindows) {
  Ask();
  EXPECT_FALSE(Run(3, 1.0F, 300, 3).kind.has_value());
  EXPECT_THAT(Run(1, 1.0F, 300, 3).kind, Optional(DecisionKind::kRollBack)) << "4 windows of 5 tasks";
  EXPECT_EQ(state_.rolled_back_limit, 1.0) << "its limit is to blame";
}

TEST_F(NamedTrialTest, WhatComesExactlyToABoundIsPromoted) {
  policy_.canary.max_extra_over = 0.125;
  policy_.canary.min_task_windows = 5 * 288;
  Ask();
  EXPECT_FALSE(Run(287, 1.0F, 375, 0).kind.has_value());
  EXPECT_THAT(Run(1, 1.0F, 375, 0).kind, Optional(DecisionKind::kPromote)) << "1/8 of 3,000 periods";
}

TEST_F(NamedTrialTest, AsManyWindowsAtItsLimitAsElsewhereAreEnough) {
  Ask();
  Run(144, 1.0F);
  EXPECT_THAT(Run(144, 1.56F).kind, Optional(DecisionKind::kPromote));
}

TEST_F(NamedTrialTest, BlamedForWindowsElsewhereOnlyIfItRanAtAll) {
  Ask();
  Run(30, 1.0F);
  EXPECT_THAT(Run(1000, 1.56F).kind, Optional(DecisionKind::kRollBack));
  EXPECT_EQ(state_.rolled_back_limit, 1.0);
  // A trial of half an hour ends before reports show that the limit is applied.
  state_ = GateState();
  policy_.canary.hours = 0.5;
  policy_.canary.min_task_windows = 0;
  policy_.change_period_s = 0;
  Ask();
  const Verdict v = Run(1000, 4.0F);
  EXPECT_THAT(v.kind, Optional(DecisionKind::kRollBack));
  EXPECT_THAT(v.sentence, HasSubstr("had another limit than 1.00 cores"));
  EXPECT_EQ(state_.rolled_back_s, INT64_MIN);
}

TEST_F(NamedTrialTest, ATrialOfTwoTasksReplacesItsTaskToo) {
  Alive(0, 2);
  Ask();
  ASSERT_EQ(state_.trial->members.size(), 1U);
  Alive(2, 4);
  Run(1, 1.0F);
  ASSERT_EQ(state_.trial->members.size(), 2U);
  EXPECT_GE(state_.trial->members[1].number, 2U);
}

TEST_F(NamedTrialTest, ReplacesNoMoreTasksThanEnded) {
  Ask();  // this call selects tasks 1, 3, 5, 7 and 9
  alive_ = {1, 3, 5, 7, 10, 11, 12, 13, 14, 15};
  Run(1, 1.0F);
  EXPECT_EQ(state_.trial->members.size(), 6U);
}

// Ended tasks may return, so the trial keeps up to 24 members: the 20 members that are allowed for 5 wanted tasks,
// and 4 new members.
TEST_F(NamedTrialTest, RemembersTasksThatEndedButNotForEver) {
  Ask();
  for (uint32_t redeploy = 1; redeploy <= 5; ++redeploy) {
    Alive(10 * redeploy, 10 * redeploy + 9);
    alive_.insert(alive_.begin(), 1);  // one task of the first trial still runs
    Run(1, 1.0F);
    const size_t all = 5 + 4 * redeploy;
    EXPECT_EQ(state_.trial->members.size(), std::min<size_t>(all, 24)) << redeploy;
    EXPECT_TRUE(state_.trial->Has(1)) << redeploy;
  }
  EXPECT_FALSE(state_.trial->Has(3)) << "the oldest of those that ended";
}

TEST_F(NamedTrialTest, OnlyTasksWithAReportOfASteadyLimitCount) {
  Ask();
  ASSERT_TRUE(state_.trial->Has(1) && state_.trial->Has(9) && !state_.trial->Has(2));
  const auto count = [this](const std::vector<TaskReport>& reports) {
    state_.trial->tasks = state_.trial->rest = {};
    std::vector<TaskUsage> tasks;
    for (const uint32_t t : alive_) tasks.push_back({t, 0.1F, 0.2F});
    Signal signal;
    signal.tasks = tasks;
    CountTrialWindow({Resource::kCpu, &signal, reports, applied_, {}}, state_);
    return std::pair(state_.trial->tasks.task_windows, state_.trial->rest.task_windows);
  };
  using Counts = std::pair<uint64_t, uint64_t>;
  TaskReport report;
  report.cpu_steady = true;
  report.cpu_limit_cores = 1;
  report.task = 9;
  EXPECT_EQ(count({report}), Counts(1, 0)) << "the other nine have no report";
  report.task = 3;
  EXPECT_EQ(count({report}), Counts(1, 0));
  report.cpu_steady = false;
  EXPECT_EQ(count({report}), Counts(0, 0)) << "its limit changed in this window";
  report.task = 2;
  report.cpu_steady = true;
  EXPECT_EQ(count({report}), Counts(0, 0)) << "of the rest, but at the limit on trial";
  report.cpu_limit_cores = 4;
  EXPECT_EQ(count({report}), Counts(0, 1));
  report.cpu_limit_cores = kAbsent;
  EXPECT_EQ(count({report}), Counts(0, 0));
}

TEST_F(NamedTrialTest, WindowsCountFromTheSecondAfterTheDelivery) {
  applied_ = LimitsApplied::kActuatorSays;
  Ask();
  Say(Outcome::kApplied);
  Window(1.0F);
  Window(1.0F);
  EXPECT_EQ(state_.trial->tasks.task_windows, 0U);
  Window(1.0F);
  EXPECT_EQ(state_.trial->tasks.task_windows, 5U);
}

// Usage of 99 % of the limit counts as at the limit, because a limit that caps usage is never exceeded.
TEST_F(NamedTrialTest, NinetyNinePercentOfALimitIsAtIt) {
  Ask();
  state_.trial->limit = 100;
  std::vector<TaskUsage> tasks = {{1, 99, 99}, {3, 98, 98}};
  Signal signal;
  signal.tasks = tasks;
  CountTrialWindow({Resource::kCpu, &signal, {}, LimitsApplied::kNo, {}}, state_);
  EXPECT_EQ(state_.trial->tasks.over, 1U);
}

}  // namespace
}  // namespace taut::brain
