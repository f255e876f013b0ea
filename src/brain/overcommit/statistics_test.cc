#include "brain/overcommit/statistics.h"

#include "brain/overcommit/history.h"
#include "brain/overcommit/predictors.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace taut::brain {
namespace {

// Observes one machine, window by window, and returns predictions.
class Machine {
 public:
  explicit Machine(std::unique_ptr<PeakPredictor> p) : predictor_(std::move(p)) {}

  // Observes a window with the usage of each task; negative if not measured. All tasks have the limit `limit`.
  void Give(const std::vector<float>& usages, float limit) {
    std::vector<TaskLoad> tasks;
    for (size_t i = 0; i < usages.size(); ++i) tasks.push_back({i, usages[i], limit});
    Give(tasks);
  }
  void Give(std::span<const TaskLoad> tasks) {
    predictor_->Observe({now_}, 0, Sum(tasks));
    predictor_->EndWindow({now_++});
  }
  void Skip(int windows) { now_ += windows; }
  double peak() const { return predictor_->Predict(0); }
  std::string sentence() const {
    Reason reason;
    predictor_->Explain(0, reason);
    return reason.sentence;
  }

 private:
  std::unique_ptr<PeakPredictor> predictor_;
  int32_t now_ = 0;
};

TEST(Spread, IsOfTheSample) {
  const std::vector<float> values = {1, -1, 2, 3, 4};  // -1 means absent
  const Spread s = SpreadOf(values);
  EXPECT_EQ(s.n, 4U);
  EXPECT_DOUBLE_EQ(s.mean, 2.5);
  EXPECT_NEAR(s.deviation, std::sqrt(5.0 / 3), 1e-12);
}

TEST(WindowRing, ForgetsByWindowNotByCount) {
  WindowRing ring(3);
  ring.Put({10}, 5);
  ring.Put({12}, 2);
  EXPECT_EQ(ring.Highest(), 5);
  ring.Put({13}, 1);  // window 10 has left the ring of 3 windows
  EXPECT_EQ(ring.Highest(), 2);
  ring.Advance({20});
  EXPECT_LT(ring.Highest(), 0);
  EXPECT_EQ(ring.seen(), 3U);
}

// Days of 4 windows, of which the ring keeps 3; the window of number n has the value n.
TEST(WindowRing, HoursAreTheNextWindowsOnEarlierDays) {
  WindowRing ring(12);
  for (int32_t w = 0; w < 14; ++w) ring.Put({w}, static_cast<float>(w));
  EXPECT_EQ(ring.HighestOfHours(1, 4, 1), 10);  // the window after 13, a day earlier
  EXPECT_EQ(ring.HighestOfHours(2, 4, 1), 11);
  ring.Put({14}, 0);
  EXPECT_EQ(ring.HighestOfHours(1, 4, 3), 11);
  for (int32_t w = 15; w < 30; ++w) ring.Put({w}, static_cast<float>(w % 4));
  EXPECT_EQ(ring.HighestOfHours(1, 4, 3), 2);
  EXPECT_EQ(ring.HighestOfHours(4, 4, 3), 3);
}

TEST(Sum, CapsUsageAtTheLimitAndLeavesOutWhatIsAbsent) {
  const std::vector<TaskLoad> tasks = {{0, 3, 2}, {1, -1, 4}, {2, 1, 4}};
  const MachineWindow w = Sum(tasks);
  EXPECT_DOUBLE_EQ(w.limit, 10);
  EXPECT_DOUBLE_EQ(w.measured_limit, 6);
  EXPECT_DOUBLE_EQ(w.usage, 3);
  EXPECT_TRUE(w.measured());
}

TEST(Borg, IsAShareOfTheLimits) {
  Machine m(NewBorgPredictor({}));
  m.Give({1, 2, 3}, 10);
  EXPECT_DOUBLE_EQ(m.peak(), 27);
  EXPECT_EQ(m.sentence(), "0.9 of the tasks' limits, 30.");
}

// The ratios are .1 and .3, with mean .2 and sample deviation .1414. The limits are 20.
TEST(NSigma, IsTheMeanPlusNDeviations) {
  Machine m(NewNSigmaPredictor({.n = 2, .window_h = 1, .min_samples = 2}));
  m.Give({1, 1}, 10);
  EXPECT_DOUBLE_EQ(m.peak(), 20) << "too few samples: the limits";
  m.Give({2, 4}, 10);
  EXPECT_NEAR(m.peak(), 20 * (0.2 + 2 * std::sqrt(0.02)), 1e-5);
}

TEST(NSigma, DoesNotPassTheLimits) {
  Machine m(NewNSigmaPredictor({.n = 50, .window_h = 1, .min_samples = 2}));
  m.Give({1, 1}, 10);
  m.Give({2, 4}, 10);
  EXPECT_DOUBLE_EQ(m.peak(), 20);
}

// A new task is counted at its limit. The ratio covers only tasks that were measured in the window.
TEST(NSigma, CountsANewTaskWithItsLimit) {
  Machine m(NewNSigmaPredictor({.n = 0, .window_h = 1, .min_samples = 2}));
  m.Give({1, 1}, 10);
  m.Give({1, 1}, 10);
  const std::vector<TaskLoad> with_new = {{0, 1, 10}, {1, 1, 10}, {2, -1, 10}};
  m.Give(with_new);
  EXPECT_NEAR(m.peak(), 0.1 * 20 + 10, 1e-5);
  EXPECT_NE(m.sentence().find("1 task with little history counts with its limit, 10."), std::string::npos)
      << m.sentence();
}

TEST(NSigma, AlignsByTime) {
  Machine m(NewNSigmaPredictor({.n = 0, .window_h = 0.5, .min_samples = 2}));  // the history has 6 windows
  m.Give({9, 9}, 10);
  m.Give({1, 1}, 10);
  m.Skip(4);
  m.Give({1, 1}, 10);  // window 6, for which window 0 is too old
  EXPECT_NEAR(m.peak(), 2, 1e-5);
}

// p50 of the ratios .1 and .3, and of .2 and .4, is multiplied by the current limits.
TEST(RcLike, AddsUpThePercentilesOfTheTasks) {
  Machine m(NewRcLikePredictor({.percentile = 50, .window_h = 1, .min_samples = 2}));
  m.Give({1, 2}, 10);
  EXPECT_DOUBLE_EQ(m.peak(), 20);
  m.Give({6, 8}, 20);
  EXPECT_NEAR(m.peak(), 20 * 0.2 + 20 * 0.3, 1e-5);
}

// The ratios are .15, .35 and .25: p50 is .25 and p75 is .3, of limits of 40.
TEST(MachinePercentile, IsOfTheMachinesUsageTimesTheLimitsOfNow) {
  for (const auto& [percentile, share] :
       {std::pair{50.0, 0.25}, std::pair{75.0, 0.3}, std::pair{0.0, 0.15}}) {
    Machine m(NewMachinePercentilePredictor({.percentile = percentile, .window_h = 1, .min_samples = 3}));
    m.Give({1, 2}, 10);
    m.Give({6, 1}, 10);
    EXPECT_DOUBLE_EQ(m.peak(), 20) << "too few samples: the limits";
    m.Give({1, 9}, 20);
    EXPECT_NEAR(m.peak(), 40 * share, 1e-5);
  }
}

TEST(MachinePercentile, AlignsByTimeAndCountsANewTaskWithItsLimit) {
  Machine m(
      // the history has 6 windows
      NewMachinePercentilePredictor({.percentile = 100, .window_h = 0.5, .min_samples = 2}));
  m.Give({9, 9}, 10);
  m.Give({1, 1}, 10);
  m.Skip(4);
  m.Give({1, 1, 1}, 10);  // window 6, for which window 0 is too old; the third task is new
  EXPECT_NEAR(m.peak(), 20 * 0.1 + 10, 1e-5);
  EXPECT_NE(m.sentence().find("The p100 of the machine's usage over its limits in 2 windows of 0.5 h is 0.1"),
            std::string::npos)
      << m.sentence();
}

// In the first window the limit is reserved. Then each window halves the excess over usage and margin.
TEST(Reservations, AddUpFromTheLimitsToUsageAndMargin) {
  Machine m(NewReservationPredictor({.margin = 0.5, .half_life_h = 1.0 / kWindowsPerHour, .start_s = 300}));
  m.Give({2, 4}, 10);
  EXPECT_DOUBLE_EQ(m.peak(), 20);
  m.Give({2, 4}, 10);  // reservations of 3 + 7 / 2 and 6 + 4 / 2
  EXPECT_NEAR(m.peak(), 6.5 + 8, 1e-5);
  m.Give({6, -1}, 10);  // the first reservation rises at once; the unmeasured task keeps its reservation
  EXPECT_NEAR(m.peak(), 9 + 8, 1e-5);
  m.Give({8, 4, 1}, 10);  // the first reservation is at most the limit; a new task has its limit reserved
  EXPECT_NEAR(m.peak(), 10 + 7 + 10, 1e-5);
  EXPECT_EQ(m.sentence(), "The reservations of 3 tasks add up to 27 of their limits, 30.");
  m.Give({8}, 10);
  m.Give({8, 4}, 10);  // the second task left and returned, so its limit is reserved
  EXPECT_NEAR(m.peak(), 20, 1e-5);
}

TEST(MachineMax, AddsAShareOfWhatTheTasksOwnMaximaAreAbove) {
  const MachineMaxSettings settings = {.days = 1, .factor = 1.5, .share = 0.5, .min_samples = 1};
  Machine m(NewMachineMaxPredictor(settings));
  m.Give({4, 1}, 10);
  m.Give({1, 5}, 10);  // the highest sum is 6, the tasks' own maxima add up to 4 + 5
  EXPECT_NEAR(m.peak(), 1.5 * 6 + 0.5 * 3, 1e-5);
  EXPECT_NE(m.sentence().find("0.5 of the 3 that the tasks' own maxima"), std::string::npos) << m.sentence();
}

// The usage is 5 from 06:00 to 08:00, and 1 otherwise.
TEST(MachineMax, OfHoursCountsTheNextHoursOnEarlierDays) {
  const auto hours = NewMachineMaxPredictor({.days = 7, .min_samples = 1, .hours = 3});
  const auto observe = [&](int32_t from, int32_t to) {
    for (int32_t w = from; w < to; ++w) {
      const int32_t at = w % kWindowsPerDay;
      const TaskLoad task = {1, at >= 72 && at < 96 ? 5.0F : 1.0F, 10};
      hours->Observe({w}, 0, Sum({&task, 1}));
    }
  };
  observe(0, 2 * kWindowsPerDay);  // 00:00: the next 3 hours and the last 6 hours are low
  EXPECT_DOUBLE_EQ(hours->Predict(0), 1);
  observe(2 * kWindowsPerDay, 2 * kWindowsPerDay + 48);  // 04:00
  EXPECT_DOUBLE_EQ(hours->Predict(0), 5);
}

TEST(MachineMax, HoursAreADuration) {
  OvercommitSettings settings;
  ASSERT_TRUE(SetOvercommitSetting("machine-max.hours", "4h", settings).ok());
  EXPECT_DOUBLE_EQ(settings.machine_max.hours, 4);
}

TEST(MachineMax, TasksWithoutHistoryCountWithTheirLimits) {
  Machine m(NewMachineMaxPredictor({.days = 1, .factor = 1, .share = 0, .min_samples = 2}));
  m.Give({4, 1}, 10);
  EXPECT_DOUBLE_EQ(m.peak(), 20);
}

TEST(Max, IsTheHighestAndSaysWhich) {
  OvercommitSettings s;
  s.max.of = "borg-default + machine-max";
  auto made = NewPeakPredictor("max", s);
  ASSERT_TRUE(made.ok());
  Machine m(*std::move(made));
  m.Give({1, 1}, 10);
  EXPECT_DOUBLE_EQ(m.peak(), 20);  // machine-max without history predicts the limits
  EXPECT_EQ(m.sentence().rfind("The highest of 2 is machine-max.", 0), 0U) << m.sentence();
}

TEST(Predictors, SayWhatIsAllowed) {
  EXPECT_EQ(NewPeakPredictor("n-sigmas", {}).status().message(),
            "unknown peak predictor \"n-sigmas\": expected limit, borg-default, n-sigma, rc-like, "
            "machine-percentile, reservation, machine-max, pool or max");
  EXPECT_EQ(NewPeakPredictor("n-sigma:n=-1", {}).status().message(), "n-sigma.n: -1 is outside 0 .. 100");
  EXPECT_EQ(NewPeakPredictor("n-sigma:m=1", {}).status().message(),
            "unknown setting \"n-sigma.m\"; did you mean \"n-sigma.n\"?");
  EXPECT_FALSE(NewPeakPredictor("n-sigma:n", {}).ok());
  EXPECT_FALSE(NewPeakPredictor("max:of=max", {}).ok());
}

// Every prediction is between 0 and the sum of the limits, and has a reason.
RC_GTEST_PROP(Predictors, StayWithinTheLimits, (const std::vector<std::vector<uint8_t>>& windows)) {
  for (const PeakPredictorInfo& info : PeakPredictors()) {
    Machine m(*NewPeakPredictor(info.name, {}));
    double limit = 0;
    for (const std::vector<uint8_t>& usages : windows) {
      std::vector<TaskLoad> tasks;
      for (size_t i = 0; i < usages.size(); ++i)
        tasks.push_back({i, static_cast<float>(usages[i]) - 5, static_cast<float>(i + 1)});
      m.Give(tasks);
      limit = Sum(tasks).limit;
      RC_ASSERT(m.peak() >= 0);
      RC_ASSERT(m.peak() <= limit * (1 + 1e-6));
      RC_ASSERT(!m.sentence().empty());
    }
  }
}

TEST(BorgDefault, ARestartKeepsTheLimits) {
  const auto one = NewBorgPredictor({});
  const std::vector<TaskLoad> tasks = {{1, 2, 10}, {2, 1, 20}};
  one->Observe({5}, 1, Sum(tasks));
  std::string bytes;
  ByteWriter out(&bytes);
  one->Save(out);
  const auto two = NewBorgPredictor({});
  ByteReader in(bytes);
  ASSERT_TRUE(two->Load(in).ok());
  EXPECT_DOUBLE_EQ(two->Predict(1), 27);
  EXPECT_FALSE(two->Learnt(1));
  ByteReader truncated(std::string_view(bytes).substr(0, bytes.size() - 2));
  EXPECT_EQ(two->Load(truncated).code(), absl::StatusCode::kDataLoss);
  EXPECT_DOUBLE_EQ(two->Predict(1), 27) << "as it was";
}

// One machine has two tasks whose peaks never coincide. This machine is compared with two machines that have one
// of these tasks each.
TEST(PeakPredictors, ThoseThatSumTasksSayTheSameOfEachAlone) {
  for (const PeakPredictorInfo& info : PeakPredictors()) {
    Machine both(*info.make({})), first(*info.make({})), second(*info.make({}));
    for (int w = 0; w < 400; ++w) {
      const TaskLoad a{0, w % 2 == 0 ? 6.0F : 1.0F, 8}, b{1, w % 2 == 0 ? 2.0F : 9.0F, 10};
      both.Give(std::vector<TaskLoad>{a, b});
      first.Give(std::vector<TaskLoad>{a});
      second.Give(std::vector<TaskLoad>{b});
    }
    const double apart = first.peak() + second.peak();
    if (info.sums_tasks) {
      EXPECT_NEAR(both.peak(), apart, 1e-9 * apart) << info.name;
    } else if (info.name != "pool") {  // the pool predicts the limits at first
      EXPECT_LT(both.peak(), 0.95 * apart) << info.name;
    }
  }
}

}  // namespace
}  // namespace taut::brain
