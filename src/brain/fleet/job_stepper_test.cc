// Tests of the signals that a recommender receives, and of the recommendation that the gate receives.
#include "brain/fleet/job_stepper.h"

#include <memory>
#include <string>

#include "common/base/byte_units.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

// Always recommends the same limit, and stores the last signal.
class Fixed final : public Recommender {
 public:
  Fixed(double limit, Signal* seen) : limit_(limit), seen_(seen) {}
  void Observe(const Signal& s) override { *seen_ = s; }
  void ObserveOom(const OomEvent&) override {}
  std::optional<double> Recommend(WindowId) override { return limit_; }
  void Explain(Reason&) const override {}
  std::unique_ptr<Recommender> Clone() const override { return std::make_unique<Fixed>(*this); }
  size_t state_bytes() const override { return sizeof(*this); }
  void Save(ByteWriter&) const override {}
  absl::Status Load(ByteReader&) override { return absl::OkStatus(); }

 private:
  double limit_;
  Signal* seen_;
};

class JobStepperTest : public ::testing::Test {
 protected:
  JobStepperTest() : lane_(Lane(std::make_unique<Fixed>(1.5, &seen_))) { policy_.mode = Mode::kAuto; }

  void Close(bool enforced, std::optional<double> throttled = std::nullopt) {
    Signal s{.window = WindowId{index_++}, .buckets = {}, .tasks = tasks_, .owner_limit = 4};
    s.throttled = throttled;
    JobStepper(Resource::kCpu, lane_)
        .Observe({.resource = Resource::kCpu,
                  .signal = &s,
                  .reports = {},
                  .applied = enforced ? LimitsApplied::kAgentsReport : LimitsApplied::kNo});
  }
  Verdict Decide(const LaneFacts& facts) { return JobStepper(facts.resource, lane_).Decide(policy_, facts); }
  LaneFacts Facts() const {
    return {
        .resource = Resource::kCpu, .now_s = WindowId{index_}.start_s(), .owner_limit = 4, .num_tasks = 1};
  }

  const std::vector<TaskUsage> tasks_ = {{.task = 0, .mean = 1, .peak = 1}};
  Signal seen_;
  ManagedLane lane_;
  JobPolicy policy_;
  int32_t index_ = 0;
};

TEST_F(JobStepperTest, IsJudgedByTheLimitInForce) {
  Close(false);
  EXPECT_EQ(seen_.limit, 4) << "nothing was recommended before";
  Close(false);
  EXPECT_EQ(seen_.limit, 1.5) << "where none is set, by the recommendation";
  lane_.gate.in_force = 2;
  Close(false);
  EXPECT_EQ(seen_.limit, 2);
  EXPECT_FALSE(seen_.cut_at.has_value()) << "nobody applies it";
  Close(true);
  EXPECT_EQ(seen_.cut_at, 2);
}

TEST_F(JobStepperTest, ThrottledTasksRanAtSomeLimit) {
  Close(true, 0.1);
  EXPECT_EQ(seen_.cut_at, 4) << "the owner's";
  lane_.gate.in_force = 2;
  Close(true, 0.1);
  EXPECT_EQ(seen_.cut_at, 2);
}

TEST_F(JobStepperTest, AGateIsNotAskedBelowItsFloor) {
  Close(false);
  lane_.gate.floor = 1.75;
  EXPECT_EQ(Decide(Facts()).after, 1.75);
  EXPECT_EQ(lane_.LimitInForce(4), 1.75);
  policy_.bounds_by[kCpuIndex].upper = 1.6;
  index_ += kWindowsPerDay;
  EXPECT_EQ(Decide(Facts()).after, 1.6) << "the owner's bound wins";
}

TEST_F(JobStepperTest, WithoutThePastOnlyAKillMovesALimit) {
  Close(false);
  LaneFacts facts = Facts();
  facts.knows_past = false;
  EXPECT_FALSE(Decide(facts).kind.has_value());
  facts.oom = true;
  facts.owner_limit = 1;
  EXPECT_EQ(Decide(facts).kind, DecisionKind::kOomRaise);
  EXPECT_EQ(lane_.LimitInForce(1), 1.5);
}

// Ten tasks whose recommended limit is 1.5, with an owner's limit of 4.
class DecideWindowTest : public JobStepperTest {
 protected:
  DecideWindowTest() {
    policy_.mode = Mode::kCanary;
    policy_.canary.share = 0.5;
    policy_.canary.hours = 1;
    policy_.canary.min_task_windows = 5;
    for (uint32_t t = 0; t < 10; ++t) ten_.push_back({.task = t, .mean = 1, .peak = 1});
  }
  // Closes a window in which the tasks of a trial used `usage`, and makes the decisions.
  uint32_t Window(float usage = 1, bool killed = false) {
    std::vector<TaskUsage> tasks = ten_;
    for (TaskUsage& t : tasks) {
      if (lane_.trial() != nullptr && lane_.trial()->Has(t.task)) t.mean = t.peak = usage;
    }
    const Signal s{.window = WindowId{index_++}, .buckets = {}, .tasks = tasks, .owner_limit = owner_};
    JobStepper(Resource::kCpu, lane_)
        .Observe({.resource = Resource::kCpu, .signal = &s, .reports = {}, .applied = LimitsApplied::kNo});
    return JobStepper(Resource::kCpu, lane_).DecideWindow(policy_, s, killed, scratch_);
  }

  std::vector<TaskUsage> ten_;
  std::vector<uint32_t> scratch_;
  std::optional<double> owner_ = 4;
};

TEST_F(DecideWindowTest, ATrialIsOfTheTasksOfTheWindowAndMovesTheirLimitOnce) {
  EXPECT_EQ(Window(), 1U);
  ASSERT_NE(lane_.trial(), nullptr);
  EXPECT_EQ(lane_.trial()->limit, 1.5);
  EXPECT_EQ(lane_.trial()->members.size(), 5U);
  uint32_t moves = 0;
  for (int i = 0; i < 24; ++i) moves += Window();
  EXPECT_EQ(lane_.trial(), nullptr);
  EXPECT_EQ(lane_.gate.in_force, 1.5) << "promoted";
  EXPECT_EQ(moves, 0U) << "the tasks on trial had the limit already";
}

TEST_F(DecideWindowTest, AWayBackMovesTheirLimitAgain) {
  ASSERT_EQ(Window(), 1U);
  uint32_t moves = 0;
  for (int i = 0; i < 24; ++i) moves += Window(2);
  EXPECT_EQ(moves, 1U);
  EXPECT_EQ(lane_.trial(), nullptr);
  EXPECT_FALSE(lane_.gate.in_force.has_value());
}

// A raise after a kill takes effect during the change period; a raise without a kill waits until the end of the
// period.
TEST_F(DecideWindowTest, OnlyAKillDoesNotWait) {
  policy_.mode = Mode::kAuto;
  policy_.change_period_s = 7 * kDaySeconds;
  lane_.gate.in_force = 1;
  lane_.gate.last_change_s = WindowId{0}.start_s();
  Window();
  EXPECT_EQ(lane_.gate.in_force, 1);
  EXPECT_EQ(Window(1, /*killed=*/true), 0U) << "no trial";
  EXPECT_EQ(lane_.gate.in_force, 1.5);
}

// ---- Cuts of memory ----

class MemoryCuts : public ::testing::Test {
 protected:
  MemoryCuts() : lane_(Lane(std::make_unique<Fixed>(32 * kMiB, &seen_))) {
    policy_.mode = Mode::kAuto;
    policy_.change_period_s = 0;
    const Signal s{.window = WindowId{0}, .buckets = {}, .tasks = tasks_, .owner_limit = 512 * kMiB};
    JobStepper(Resource::kMemory, lane_)
        .Observe({.resource = Resource::kMemory, .signal = &s, .reports = {}});
  }
  // Returns the limit in force in MiB after a decision at the end of `window`.
  double Decide(int32_t window, LimitsApplied applied = LimitsApplied::kActuatorSays,
                std::optional<double> kernel_peak = {}) {
    const LaneFacts facts{.resource = Resource::kMemory,
                          .now_s = WindowId{window}.next().start_s(),
                          .owner_limit = 512 * kMiB,
                          .num_tasks = 2,
                          .applied = applied,
                          .kernel_peak = kernel_peak};
    verdict_ = JobStepper(facts.resource, lane_).Decide(policy_, facts);
    return lane_.gate.in_force.value_or(512 * kMiB) / kMiB;
  }

  const std::vector<TaskUsage> tasks_ = {{.task = 0, .mean = 1, .peak = 1}};
  Signal seen_;
  ManagedLane lane_;
  JobPolicy policy_;
  Verdict verdict_;
};

TEST_F(MemoryCuts, GoInStepsWithALookBetween) {
  EXPECT_EQ(Decide(0), 256);
  EXPECT_EQ(verdict_.sentence.substr(verdict_.sentence.find(';') + 2),
            "32.0 MiB is recommended, and limits are lowered in steps, now to 256 MiB");
  EXPECT_EQ(Decide(1), 256) << "a window is looked at";
  EXPECT_EQ(Decide(2), 128);
  EXPECT_EQ(Decide(4), 64);
  EXPECT_EQ(Decide(6), 32);
}

TEST_F(MemoryCuts, AreShownAtOnce) {
  policy_.mode = Mode::kObserve;
  Decide(0);
  EXPECT_EQ(verdict_.after, 32 * kMiB);
}

TEST_F(MemoryCuts, AreOneInAReplayAndADryRun) { EXPECT_EQ(Decide(0, LimitsApplied::kNo), 32); }

TEST_F(MemoryCuts, NeverGoBelowTheKernelsPeak) {
  EXPECT_EQ(Decide(0, LimitsApplied::kAgentsReport, 300 * kMiB), 300);
  EXPECT_NE(verdict_.sentence.find("the kernel saw a task have 300 MiB"), std::string::npos);
  EXPECT_EQ(Decide(9, LimitsApplied::kAgentsReport, 300 * kMiB), 300);
  EXPECT_EQ(Decide(18, LimitsApplied::kAgentsReport, 38 * kMiB), 150);
  EXPECT_EQ(Decide(27, LimitsApplied::kAgentsReport, 38 * kMiB), 75);
  EXPECT_EQ(Decide(36, LimitsApplied::kAgentsReport, 38 * kMiB), 38);
  EXPECT_EQ(Decide(45, LimitsApplied::kAgentsReport, 38 * kMiB), 38);
  EXPECT_EQ(Decide(54, LimitsApplied::kAgentsReport, 900 * kMiB), 38) << "a peak raises nothing";
}

TEST_F(MemoryCuts, AnUpperBoundHoldsAtOnce) {
  policy_.bounds_by[kMemoryIndex].upper = 100 * kMiB;
  EXPECT_EQ(Decide(0, LimitsApplied::kActuatorSays, 300 * kMiB), 100);
}

TEST_F(MemoryCuts, ATrialIsOfTheStep) {
  policy_.mode = Mode::kCanary;
  const std::vector<uint32_t> tasks = {0, 1};
  LaneFacts facts{.resource = Resource::kMemory,
                  .now_s = WindowId{1}.start_s(),
                  .owner_limit = 512 * kMiB,
                  .num_tasks = 2,
                  .tasks = &tasks,
                  .applied = LimitsApplied::kActuatorSays};
  EXPECT_EQ(JobStepper(facts.resource, lane_).Decide(policy_, facts).kind, DecisionKind::kTry);
  ASSERT_TRUE(lane_.gate.trial.has_value());
  EXPECT_EQ(lane_.gate.trial->limit, 256 * kMiB);
  facts.now_s = WindowId{2}.start_s();
  EXPECT_EQ(JobStepper(facts.resource, lane_).Decide(policy_, facts).kind, std::nullopt) << "it goes on";
  EXPECT_TRUE(lane_.gate.trial.has_value());
}

}  // namespace
}  // namespace taut::brain
