// Tests of trials: selection of tasks, causes of promotion and of rollback, and the watch of a job of one task.

#include <algorithm>

#include "brain/rollout/gate.h"
#include "common/base/byte_units.h"
#include "common/base/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace taut::brain {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

constexpr int64_t kDayS = kDaySeconds;

// A job in mode canary with an owner's limit of 1 GiB and a recommendation of 512 MiB.
class TrialTest : public ::testing::Test {
 protected:
  explicit TrialTest(uint32_t num_tasks = 120) : num_tasks_(num_tasks) {
    policy_.mode = Mode::kCanary;
    for (uint32_t t = 0; t < num_tasks; ++t) alive_.push_back(t);
  }

  Verdict Ask(int64_t now_s, double recommended = kGiB / 2, bool oom = false) {
    const Proposal p = {.resource = Resource::kMemory,
                        .now_s = now_s,
                        .owner_limit = kGiB,
                        .recommended = recommended,
                        .oom = oom,
                        .num_tasks = num_tasks_,
                        .tasks = oom ? nullptr : &alive_,
                        .applied = applied_,
                        .recommender = recommender_};
    return Decide(policy_, p, state_);
  }
  // Adds `windows` windows in which tasks on trial use `tried` bytes and other tasks use `rest` bytes.
  void Live(int windows, double tried, double rest) {
    for (int w = 0; w < windows; ++w) {
      std::vector<TaskUsage> tasks;
      for (uint32_t t = 0; t < num_tasks_; ++t) {
        const bool in = num_tasks_ == 1 || (state_.trial.has_value() && state_.trial->Has(t));
        const auto usage = static_cast<float>(in ? tried : rest);
        tasks.push_back({t, usage, usage});
      }
      Signal signal;
      signal.tasks = tasks;
      signal.owner_limit = kGiB;
      CountTrialWindow({Resource::kMemory, &signal, {}}, state_);
    }
  }

  JobPolicy policy_;
  GateState state_;
  uint32_t num_tasks_;
  std::vector<uint32_t> alive_;
  LimitsApplied applied_ = LimitsApplied::kNo;
  const Recommender* recommender_ = nullptr;
};

// A recommender that forecasts a chance of a fifth for any limit, and allows a chance of a tenth.
class TooRisky final : public Recommender {
 public:
  void Observe(const Signal&) override {}
  void ObserveOom(const OomEvent&) override {}
  std::optional<double> Recommend(WindowId) override { return std::nullopt; }
  void UpdateRisk(double limit, LimitRisk& risk) const override {
    risk.limit = limit;
    risk.chance = 0.2;
    risk.most_chance = 0.1F;
  }
  void Explain(Reason&) const override {}
  std::unique_ptr<Recommender> Clone() const override { return nullptr; }
  size_t state_bytes() const override { return 0; }
  void Save(ByteWriter&) const override {}
  absl::Status Load(ByteReader&) override { return absl::OkStatus(); }
};

// A limit whose chance exceeds the highest allowed chance is not promoted, even if it is close to the
// recommendation.
TEST_F(TrialTest, DoesNotPromoteALimitAboveTheHighestChance) {
  const TooRisky risky;
  for (const bool is_risky : {false, true}) {
    state_ = GateState();
    recommender_ = is_risky ? &risky : nullptr;
    ASSERT_THAT(Ask(0).kind, Optional(DecisionKind::kTry));
    Live(288, 0.3 * kGiB, 0.3 * kGiB);
    EXPECT_THAT(Ask(kDayS, 0.51 * kGiB).kind,
                Optional(is_risky ? DecisionKind::kRollBack : DecisionKind::kPromote));
  }
}

TEST_F(TrialTest, PromotesWhatDidNoWorseThanTheRest) {
  const Verdict start = Ask(0);
  EXPECT_THAT(start.kind, Optional(DecisionKind::kTry));
  EXPECT_EQ(start.sentence, "tried on 12 of 120 tasks: 512 MiB instead of 1.00 GiB, 50 % less");
  EXPECT_FALSE(state_.in_force.has_value());
  Live(287, 0.3 * kGiB, 0.3 * kGiB);
  EXPECT_EQ(
      Ask(23 * 3600).sentence,
      "512 MiB is on trial for 23 h, 3444 task-windows so far; evaluated after 24 h and 100 task-windows");
  Live(1, 0.497 * kGiB, 0.995 * kGiB);
  const Verdict end = Ask(kDayS);
  EXPECT_THAT(end.kind, Optional(DecisionKind::kPromote));
  EXPECT_EQ(end.sentence,
            "12 of 120 tasks ran 24 h at 512 MiB: 0 OOM kills, 0.3 % of windows at the limit; the other "
            "tasks: 0 OOM kills, 0.3 %");
  EXPECT_THAT(state_.in_force, Optional(kGiB / 2));
  EXPECT_FALSE(state_.trial.has_value());
}

TEST_F(TrialTest, AnOomOnItsSideRollsBackAtOnceAndIsNotTriedAgainForAWhile) {
  policy_.maintenance = {{.days = 0x7F, .start_minute = 0, .end_minute = 60}};
  Ask(0);
  Live(1, 0.3 * kGiB, 0.3 * kGiB);
  uint32_t task = 0;
  while (!state_.trial->Has(task)) ++task;
  CountTrialOom(task, 1, std::nullopt, state_);
  const Verdict v = Ask(7200, 0.6 * kGiB, true);
  EXPECT_THAT(v.kind, Optional(DecisionKind::kRollBack));
  EXPECT_FALSE(v.after.has_value());  // the owner's limit is in force again
  EXPECT_EQ(v.sentence,
            "12 of 120 tasks ran 2 h at 512 MiB: 1 OOM kill, 0 % of windows at the limit; the other tasks: 0 "
            "OOM kills, 0 %");
  EXPECT_EQ(Ask(kDayS).sentence, "512 MiB failed a trial 22 h ago; retry after 7 days");
  EXPECT_EQ(Ask(kDayS, 0.51 * kGiB).sentence, Ask(kDayS).sentence);
  EXPECT_THAT(Ask(8 * kDayS).kind, Optional(DecisionKind::kTry));
}

TEST_F(TrialTest, OomsThatTheRestHasAsWellAreNotTheTrialsFault) {
  Ask(0);
  Live(10, 0.3 * kGiB, 0.3 * kGiB);
  for (uint32_t t = 0; t < num_tasks_; ++t) CountTrialOom(t, 1, std::nullopt, state_);
  EXPECT_FALSE(Ask(3600).kind.has_value());
  EXPECT_TRUE(state_.trial.has_value());
}

// A tenth of the tasks has a tenth of the kills, so the rates of both sides are equal.
TEST_F(TrialTest, OomsAreComparedByRate) {
  Ask(0);
  Live(10, 0.3 * kGiB, 0.3 * kGiB);
  const uint32_t member = state_.trial->members.front().number;
  const uint32_t other = state_.trial->Has(0) ? 1 : 0;
  CountTrialOom(other, 5, std::nullopt, state_);
  EXPECT_FALSE(Ask(3300).kind.has_value());
  CountTrialOom(member, 1, std::nullopt, state_);
  EXPECT_THAT(Ask(3600).kind, Optional(DecisionKind::kRollBack)) << "1 of 12 tasks against 5 of 108";
}

TEST_F(TrialTest, MoreOomsOfMoreTasksAreNoHigherRate) {
  policy_.canary.share = 0.9;
  Ask(0);
  Live(10, 0.3 * kGiB, 0.3 * kGiB);
  const auto other =
      std::find_if(alive_.begin(), alive_.end(), [&](uint32_t t) { return !state_.trial->Has(t); });
  CountTrialOom(state_.trial->members.front().number, 5, std::nullopt, state_);
  CountTrialOom(*other, 1, std::nullopt, state_);
  EXPECT_FALSE(Ask(3600).kind.has_value()) << "5 of 108 tasks against 1 of 12";
}

TEST_F(TrialTest, WithOneTaskLeftItEndsWithoutBlame) {
  Ask(0);
  num_tasks_ = 1;
  alive_ = {0};
  const Verdict v = Ask(600);
  EXPECT_THAT(v.kind, Optional(DecisionKind::kRollBack));
  EXPECT_EQ(v.sentence, "one task is left, and a trial needs two");
  EXPECT_EQ(state_.rolled_back_s, INT64_MIN) << "the limit did nothing wrong";
  num_tasks_ = 120;
  for (uint32_t t = 1; t < num_tasks_; ++t) alive_.push_back(t);
  EXPECT_THAT(Ask(600 + 3600).kind, Optional(DecisionKind::kTry)) << "so it is tried again at once";
}

TEST_F(TrialTest, TasksAtTheirLimitRollBackBeforeTheTimeIsUp) {
  Ask(0);
  Live(10, 0.5 * kGiB, 0.3 * kGiB);
  const Verdict v = Ask(3000);
  EXPECT_THAT(v.kind, Optional(DecisionKind::kRollBack));
  EXPECT_THAT(v.sentence, HasSubstr("100 % of windows at the limit; the other tasks: 0 OOM kills, 0 %"));
}

TEST_F(TrialTest, ARecommendationThatRisesEndsItWithoutBlame) {
  Ask(0);
  const Verdict v = Ask(600, 0.8 * kGiB);
  EXPECT_THAT(v.kind, Optional(DecisionKind::kRollBack));
  EXPECT_EQ(v.sentence, "the recommendation rose to 819 MiB while 512 MiB was on trial");
  EXPECT_THAT(Ask(600 + 3600).kind, Optional(DecisionKind::kTry));
}

TEST_F(TrialTest, ReleaseEndsItAndAnOomOfTheRestRaisesAll) {
  Ask(0);
  policy_.mode = Mode::kObserve;
  const Verdict release = Ask(300);
  EXPECT_THAT(release.kind, Optional(DecisionKind::kRelease));
  EXPECT_THAT(release.before, Optional(kGiB / 2));
  policy_.mode = Mode::kCanary;
  EXPECT_THAT(Ask(2 * 3600).kind, Optional(DecisionKind::kTry));
  CountTrialOom(0, 1, std::nullopt, state_);  // task 0 is not on trial
  EXPECT_THAT(Ask(2 * 3600 + 60, 1.3 * kGiB, true).kind, Optional(DecisionKind::kOomRaise));
  EXPECT_FALSE(state_.trial.has_value());
}

TEST_F(TrialTest, GivesUpWhenItsTasksDoNotLiveLongEnough) {
  Ask(0);
  Live(2, 0.3 * kGiB, 0.3 * kGiB);
  EXPECT_FALSE(Ask(5 * kDayS).kind.has_value());
  const Verdict v = Ask(5 * kDayS + 300);
  EXPECT_THAT(v.kind, Optional(DecisionKind::kRollBack));
  EXPECT_EQ(v.sentence, "after 5 days its tasks had 24 of the 100 task-windows required");
}

class WatchTest : public TrialTest {
 protected:
  WatchTest() : TrialTest(1) {}
};

TEST_F(WatchTest, IsSetAfterItsLimitWasWatched) {
  EXPECT_EQ(Ask(0).sentence,
            "a trial needs two tasks; usage is compared with 512 MiB for 24 h before it is set");
  Live(288, 0.3 * kGiB, 0);
  EXPECT_EQ(Ask(23 * 3600).sentence,
            "a trial needs two tasks; usage has been compared with 512 MiB for 23 h of 24 h");
  policy_.maintenance = {{.days = 0x7F, .start_minute = 60, .end_minute = 120}};
  EXPECT_EQ(Ask(kDayS).sentence, "waits for the maintenance window Fri 01:00 UTC");
  const Verdict v = Ask(kDayS + 3600);
  EXPECT_THAT(v.kind, Optional(DecisionKind::kSet));
  EXPECT_EQ(v.sentence,
            "512 MiB instead of 1.00 GiB, 50 % less; watched for 25 h, the task reached the limit in 0 % of "
            "288 windows");
  EXPECT_THAT(state_.in_force, Optional(kGiB / 2));
}

TEST_F(WatchTest, IsNotSetIfUsageCameToIt) {
  Ask(0);
  Live(95, 0.3 * kGiB, 0);
  Live(5, 0.5 * kGiB, 0);
  EXPECT_EQ(Ask(30'000).sentence,
            "not set: watched for 8.3 h, usage was at 512 MiB in 5.0 % of windows, with 0 OOM kills");
  EXPECT_THAT(Ask(30'300).sentence, HasSubstr("512 MiB failed a trial 5 min ago"));
  // A raise is set without a watch.
  EXPECT_THAT(Ask(30'600, 2 * kGiB).kind, Optional(DecisionKind::kSet));
}

TEST_F(WatchTest, StartsOverWhenTheRecommendationRises) {
  Ask(0);
  Live(100, 0.3 * kGiB, 0);
  EXPECT_THAT(Ask(30'000, 0.7 * kGiB).sentence, HasSubstr("compared with 717 MiB for 24 h"));
  EXPECT_EQ(state_.trial->tasks.task_windows, 0U);
  num_tasks_ = 2;
  EXPECT_THAT(Ask(30'300, 0.7 * kGiB).kind, Optional(DecisionKind::kTry));
}

RC_GTEST_PROP(InTrial, TakesItsShareAndNeverNoneOrAll, ()) {
  const auto n = *rc::gen::inRange<uint32_t>(2, 3000);
  const double share = *rc::gen::inRange(1, 999) / 1000.0;
  uint32_t tried = 0;
  for (uint32_t t = 0; t < n; ++t) tried += InTrial(t, n, share) ? 1 : 0;
  RC_ASSERT(tried == TrialTasks(n, share));
  RC_ASSERT(tried >= 1U);
  RC_ASSERT(tried < n);
  if (n * share >= 1 && n * (1 - share) >= 1) RC_ASSERT(std::abs(tried - n * share) < 1.0);
}

TEST(InTrial, StaysAsTasksComeAndGo) {
  for (uint32_t t = 0; t < 100; ++t) EXPECT_EQ(InTrial(t, 100, 0.1), InTrial(t, 77, 0.1));
  EXPECT_FALSE(InTrial(0, 1, 0.1));
}

// The duration of the watch counts from the start of the watch, not from the epoch.
TEST_F(WatchTest, ItsTimeCountsFromItsStart) {
  const int64_t start = 100 * kDayS;
  Ask(start);
  EXPECT_EQ(state_.trial->since_s, start);
  EXPECT_THAT(state_.trial->old_limit, Optional(kGiB));
  Live(288, 0.3 * kGiB, 0);
  EXPECT_THAT(Ask(start + kDayS - 300).sentence, HasSubstr("for 23.9 h of 24 h"));
  EXPECT_THAT(Ask(start + kDayS).kind, Optional(DecisionKind::kSet));
}

TEST_F(WatchTest, IsNotSetIfItsTaskWasKilled) {
  Ask(0);
  Live(10, 0.3 * kGiB, 0);
  CountTrialOom(0, 1, std::nullopt, state_);
  EXPECT_THAT(Ask(3000).sentence, HasSubstr("in 0 % of windows, with 1 OOM kill"));
  EXPECT_FALSE(state_.trial.has_value());
  EXPECT_EQ(state_.rolled_back_limit, kGiB / 2);
  EXPECT_EQ(state_.rolled_back_s, 3000);
}

TEST_F(WatchTest, WhatComesExactlyToABoundIsAllowed) {
  policy_.canary.min_task_windows = 288;
  policy_.canary.max_extra_over = 0.0625;
  Ask(0);
  Live(270, 0.3 * kGiB, 0);
  Live(18, 0.5 * kGiB, 0);  // usage reaches the limit in 18 of 288 windows, which is 1/16
  EXPECT_FALSE(Ask(3600, kGiB / 2 * (1 + policy_.min_change)).kind.has_value());
  EXPECT_EQ(state_.trial->tasks.task_windows, 288U) << "a min_change more does not start it anew";
  EXPECT_THAT(Ask(kDayS).kind, Optional(DecisionKind::kSet));
}

TEST_F(WatchTest, WaitsForTheWholePeriodSinceTheLastChange) {
  policy_.change_period_s = 30 * kHour;
  state_.last_change_s = 0;
  Ask(0);
  Live(288, 0.3 * kGiB, 0);
  EXPECT_THAT(Ask(kDayS).sentence, HasSubstr("limited to one per 30 h"));
  EXPECT_THAT(Ask(30 * 3600).kind, Optional(DecisionKind::kSet));
}

TEST_F(TrialTest, IsPromotedAWholePeriodAfterItsStart) {
  policy_.change_period_s = 30 * kHour;
  Ask(0);
  Live(288, 0.3 * kGiB, 0.3 * kGiB);
  EXPECT_THAT(Ask(kDayS).sentence, HasSubstr("limited to one per 30 h"));
  EXPECT_THAT(Ask(30 * 3600).kind, Optional(DecisionKind::kPromote));
}

TEST_F(TrialTest, GivenUpForWantOfWindowsItCountsAsFailed) {
  Ask(0);
  EXPECT_THAT(Ask(5 * kDayS + 300).kind, Optional(DecisionKind::kRollBack));
  EXPECT_EQ(state_.rolled_back_limit, kGiB / 2);
}

TEST_F(TrialTest, ARiseOfAMinChangeDoesNotEndIt) {
  Ask(0);
  EXPECT_FALSE(Ask(600, kGiB / 2 * (1 + policy_.min_change)).kind.has_value());
  EXPECT_TRUE(state_.trial.has_value());
}

TEST_F(TrialTest, TakesNoMoreThanTheTasksThatALimitCanBeTriedOn) {
  policy_.canary.share = 0.5;
  alive_ = {3, 8};
  EXPECT_THAT(Ask(0).sentence, HasSubstr("tried on 2 of 120 tasks"));
  EXPECT_EQ(state_.trial->members.size(), 2U);
}

TEST_F(TrialTest, SumsAreOfItsSide) {
  Ask(0);
  Live(2, 0.25 * kGiB, 0.5 * kGiB);
  EXPECT_EQ(state_.trial->tasks.usage_sum, 24 * 0.25 * kGiB);
  EXPECT_EQ(state_.trial->tasks.limit_sum, 24 * 0.5 * kGiB);
  EXPECT_EQ(state_.trial->rest.usage_sum, 216 * 0.5 * kGiB);
  EXPECT_EQ(state_.trial->rest.limit_sum, 216 * kGiB);
}

TEST_F(TrialTest, AKillCountsAtTheLimitOnTrialOrBelowIt) {
  Ask(0);
  const uint32_t member = state_.trial->members[0].number;
  CountTrialOom(member, 2, 0.3 * kGiB, state_);
  CountTrialOom(member, 3, kGiB / 2 + 4096, state_);  // a limit that a kernel rounded up by a page
  CountTrialOom(member, 4, std::nullopt, state_);
  EXPECT_EQ(state_.trial->tasks.ooms, 9U);
  CountTrialOom(member, 1, 0.8 * kGiB, state_);
  EXPECT_EQ(state_.trial->tasks.ooms, 9U);
  EXPECT_EQ(state_.trial->rest.ooms, 0U);
}

TEST(IsAtLimit, AllowsWhatKernelsMakeOfALimit) {
  const double page = 4096;
  EXPECT_TRUE(IsAtLimit(Resource::kMemory, 100 * page + 2 * page, 100 * page));
  EXPECT_FALSE(IsAtLimit(Resource::kMemory, 100 * page + 2 * page + 1, 100 * page));
  EXPECT_TRUE(IsAtLimit(Resource::kMemory, 0.991 * kGiB, kGiB));
  EXPECT_FALSE(IsAtLimit(Resource::kMemory, 0.989 * kGiB, kGiB));
  // The tolerance for cores is 1 %, or up to 13 millicores for limits set by weight, but less than an agent's
  // raise.
  EXPECT_TRUE(IsAtLimit(Resource::kCpu, 4.03, 4));
  EXPECT_FALSE(IsAtLimit(Resource::kCpu, 4.05, 4));
  EXPECT_TRUE(IsAtLimit(Resource::kCpu, 0.512, 0.5));
  EXPECT_FALSE(IsAtLimit(Resource::kCpu, 0.515, 0.5));
  EXPECT_TRUE(IsAtLimit(Resource::kCpu, 0.0549, 0.05));
  EXPECT_FALSE(IsAtLimit(Resource::kCpu, 0.0551, 0.05));
}

TEST(InTrial, OneTaskIsAlwaysLeftOut) {
  EXPECT_EQ(TrialTasks(10, 1), 9U);
  EXPECT_EQ(TrialTasks(10, 0), 1U);
}

}  // namespace
}  // namespace taut::brain
