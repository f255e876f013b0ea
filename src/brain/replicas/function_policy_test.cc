#include "brain/replicas/function_policy.h"

#include <cmath>

#include "brain/replicas/policies.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ReplicaSettings Plain(std::string target) {
  ReplicaSettings s;
  s.function.target = std::move(target);
  s.autopilot.small_change = 0;
  s.autopilot.decay_half_life_s = 0;
  s.function.max_step = 1e6;  // a bound so high that steps are not limited in these tests
  return s;
}

// A job whose tasks are ready at once, decided minute by minute.
struct Job {
  explicit Job(const ReplicaSettings& settings, int begin = 10) : policy(settings), count(begin) {}
  int At(int64_t minute, std::optional<double> load, double capacity = 1) {
    return count = policy.Decide({Timestamp::FromSeconds(minute * 60), load, capacity, count, 0});
  }
  std::string Why() const {
    Reason reason;
    policy.Explain(reason);
    return reason.sentence;
  }
  FunctionPolicy policy;
  int count;
};

TEST(Function, TheOwnersExpressionIsTheCount) {
  Job job(Plain("ceil(load / (0.5 * capacity)) + 1"));
  EXPECT_EQ(job.At(0, 20, 2), 21);
  EXPECT_EQ(job.Why(), "\"ceil(load / (0.5 * capacity)) + 1\" is 21: 21 tasks after smoothing.");
  EXPECT_EQ(job.At(5, 6.2, 2), 8);
  EXPECT_EQ(Job(Plain("load / capacity")).At(0, 6.2), 7);  // 6.2 tasks are rounded up
}

TEST(Function, OneStepIsBounded) {
  ReplicaSettings settings = Plain("1e15 * load");
  settings.function.max_step = FunctionReplicaSettings().max_step;
  Job job(settings, 2);
  EXPECT_EQ(job.At(0, 1), 102);
  EXPECT_THAT(job.Why(), HasSubstr("102 tasks after the bound of a step (function.max_step) and smoothing"));
  EXPECT_EQ(job.At(5, 1), 1020);
  EXPECT_EQ(job.At(10, 1), 10'200);
  Job from_zero(settings, 0);
  EXPECT_EQ(from_zero.At(0, 1), 100);
  Job within(settings, 50);
  EXPECT_EQ(within.At(0, 400e-15), 400) << "ten times as many";
  EXPECT_THAT(within.Why(), Not(HasSubstr("max_step")));
}

TEST(Function, HourAndWeekdayAreThoseOfUtc) {
  Job job(Plain("100 * weekday + hour"), 1);
  EXPECT_EQ(job.At(0, 1), 400);                                  // Thursday, 1970-01-01, 00:00
  EXPECT_EQ(job.At(3 * 1440 + 23 * 60 + 59, 1), 23);             // Sunday, 23:59
  EXPECT_EQ(Job(Plain("100 * weekday + hour")).At(-1, 1), 323);  // the Wednesday before 1970-01-01
}

TEST(Function, SpansOfPastLoad) {
  Job highest(Plain("max_over(3)")), mean(Plain("avg_over(3)")), p95(Plain("p95_over(20)"));
  // The span includes the current sample, and excludes the sample of three minutes before.
  const double loads[] = {9, 3, 6, 1, 1, 1};
  const int expected_max[] = {9, 9, 9, 6, 6, 1};
  const int expected_mean[] = {9, 6, 6, 4, 3, 1};  // 10/3 and 8/3 are rounded up
  for (int m = 0; m < 6; ++m) {
    // Each minute is a separate averaging window, because the count does not fall within a window.
    EXPECT_EQ(highest.At(m, loads[m]), m < 5 ? std::max(expected_max[m], m > 2 ? 9 : 0) : 1) << m;
    (void)mean.At(m, loads[m]);
    Reason reason;
    mean.policy.Explain(reason);
    EXPECT_EQ(std::ceil(std::get<double>(reason.facts.front().value)), expected_mean[m]) << m;
  }
  for (int m = 0; m < 20; ++m) (void)p95.At(m, m == 7 ? 50 : 5);
  EXPECT_EQ(p95.At(20, 5), 5);  // one sample of 20 is above p95
}

TEST(Function, AbsentSamplesDoNotCountInSpans) {
  Job job(Plain("avg_over(10)"));
  (void)job.At(0, 8);
  (void)job.At(1, std::nullopt);
  EXPECT_EQ(job.At(5, 4), 6);
  EXPECT_EQ(job.At(100, 2), 2);  // the span contains no earlier sample
}

TEST(Function, GoesUpAtOnceAndDownAsAutopilotDoes) {
  ReplicaSettings s = Plain("load / 0.5");
  s.autopilot.decay_half_life_s = 3600;
  Job job(s, 100);
  EXPECT_EQ(job.At(0, 50), 100);
  EXPECT_EQ(job.At(1, 60), 120);
  EXPECT_EQ(job.At(2, 50), 120);  // the count does not fall within an averaging window
  (void)job.At(4, 50);
  std::vector<int> counts;
  Job hour(s, 100);
  for (int w = 0; w <= 12; ++w) {
    for (int m = 0; m < 5; ++m) (void)hour.At(w * 5 + m, 5);
    counts.push_back(hour.count);
  }
  EXPECT_EQ(counts, (std::vector<int>{100, 95, 90, 85, 80, 75, 71, 67, 63, 60, 57, 53, 50}));
}

TEST(Function, DefersDownscalingIgnoresSmallChangesLimitsGrowth) {
  ReplicaSettings s = Plain("load");
  s.autopilot.defer_downscaling_s = 3600;
  s.autopilot.small_change = 0.1;
  Job job(s, 100);
  EXPECT_EQ(job.At(0, 100), 100);
  EXPECT_EQ(job.At(1, 110), 100);
  EXPECT_EQ(job.At(2, 111), 111);
  EXPECT_EQ(job.At(59, 5), 111);
  EXPECT_EQ(job.At(66, 5), 5);
  s.autopilot.max_starting = 0.2;
  FunctionPolicy limited(s);
  EXPECT_EQ(limited.Decide({Timestamp::FromSeconds(0), 50.0, 1, 8, 0}), 10);
}

TEST(Function, WhatIsNoCountHoldsTheCount) {
  for (const std::string target : {"1 / (load - 5)", "0 / (load - 5)", "4 - load", "sqrt(3 - load)"}) {
    Job job(Plain(target), 1);
    (void)job.At(0, 2.9);
    job.count = 12;
    EXPECT_EQ(job.At(5, 5), 12) << target;
    EXPECT_THAT(job.Why(), HasSubstr("not a number of tasks, so the count stays 12.")) << target;
    EXPECT_THAT(job.Why(), HasSubstr(target));
  }
  Job job(Plain("load"), 7);
  const std::optional<double> unusable[] = {std::nullopt, double{NAN}, double{INFINITY}, -1.0};
  for (const std::optional<double> load : unusable) {
    EXPECT_EQ(job.At(0, load), 7);
    EXPECT_EQ(job.Why(), "The load was not measured, so the count stays 7.");
  }
}

TEST(Function, WindowsOfAHeldCountDoNotDecay) {
  ReplicaSettings s = Plain("load > 0 ? load : 1 / load");
  s.autopilot.decay_half_life_s = 3600;
  Job job(s, 100);
  (void)job.At(0, 100);
  for (int m = 1; m < 300; ++m) (void)job.At(m, 0);
  EXPECT_EQ(job.At(300, 5), 95);
}

TEST(Function, ASettingThatWasNotCheckedHoldsTheCount) {
  Job job(Plain("lod"), 7);
  EXPECT_EQ(job.At(0, 5), 7);
  EXPECT_THAT(job.Why(), HasSubstr("function.target is invalid (character 1: unknown name \"lod\""));
}

TEST(Function, AfterASilenceTheHighestCountOfTheLastDayRuns) {
  Job job(Plain("load"), 1);
  for (int m = 0; m < 1440; m += 10) (void)job.At(m, m == 1000 ? 30 : m == 100 ? 50 : 8);
  EXPECT_EQ(job.count, 8);
  (void)job.At(1440 + 200, 8);
  EXPECT_EQ(job.At(1640 + 60, std::nullopt), 8);
  EXPECT_EQ(job.At(1640 + 61, std::nullopt), 30);  // the 50 tasks ran more than a day ago
  EXPECT_EQ(
      job.Why(),
      "The load has not been measured for 1.02 h, so the count is 30: at least the highest of the last day.");
  for (int m = 1710; m < 3 * 1440; m += 10) EXPECT_EQ(job.At(m, std::nullopt), 30);
  EXPECT_EQ(job.At(3 * 1440, 8), 8);
  ReplicaSettings patient = Plain("load");
  patient.function.silent_s = 7200;
  Job other(patient, 3);
  EXPECT_EQ(other.At(0, std::nullopt), 3);
  EXPECT_EQ(other.At(119, std::nullopt), 3);
  EXPECT_EQ(other.At(121, std::nullopt), 3);  // 3 is the highest count so far
}

// A job whose number of tasks is a function of two signals.
struct SignalJob {
  explicit SignalJob(std::string target) : settings(Plain(std::move(target))) {
    settings.signals = {"queue_length", "requests"};
    policy = NewReplicaPolicy(**FindReplicaPolicy("function"), settings);
  }
  int At(int64_t minute, std::vector<double> signals, std::optional<double> load = std::nullopt) {
    return count = policy->Decide({.at = Timestamp::FromSeconds(minute * 60),
                                   .load = load,
                                   .capacity = 0,
                                   .ready = count,
                                   .signals = signals});
  }
  std::string Why() const {
    Reason reason;
    policy->Explain(reason);
    return reason.sentence;
  }
  ReplicaSettings settings;
  std::unique_ptr<ReplicaPolicy> policy;
  int count = 3;
};

TEST(Function, NamedSignalsAreReadWithoutALoad) {
  SignalJob job("ceil(max(queue_length, 10m) / 50) + avg(requests, 5m) / 2");
  EXPECT_EQ(std::vector<std::string>(job.policy->signals().begin(), job.policy->signals().end()),
            (std::vector<std::string>{"queue_length", "requests"}));
  EXPECT_FALSE(job.policy->reads_load());
  EXPECT_EQ(job.At(0, {120, 4}), 5);
  EXPECT_EQ(job.At(1, {700, 4}), 16);
  EXPECT_EQ(job.Why(),
            "\"ceil(max(queue_length, 10m) / 50) + avg(requests, 5m) / 2\" is 16: 16 tasks after smoothing.");
  Reason reason;
  job.policy->Explain(reason);
  ASSERT_EQ(reason.facts.size(), 3U);
  EXPECT_EQ(reason.facts[1].name, "queue_length");
  EXPECT_EQ(std::get<double>(reason.facts[1].value), 700);
  for (int m = 2; m < 40; ++m) (void)job.At(m, {10, 4});
  EXPECT_EQ(job.count, 3);
}

TEST(Function, ASilentSignalHoldsAndThenRaises) {
  SignalJob job("queue_length / 10 + requests / 10");
  EXPECT_EQ(job.At(0, {200, 100}), 30);
  for (int m = 5; m < 60; m += 5) (void)job.At(m, {20, 10});
  EXPECT_EQ(job.count, 3);
  EXPECT_EQ(job.At(60, {-1, 10}), 3);
  EXPECT_EQ(job.Why(), "queue_length was not measured, so the count stays 3.");
  EXPECT_EQ(job.At(65, {NAN, -1}), 3);
  EXPECT_EQ(job.Why(), "queue_length and requests were not measured, so the count stays 3.");
  EXPECT_EQ(job.At(115, {-1, 10}), 3);
  EXPECT_EQ(job.At(120, {-1, 10}), 30);
  EXPECT_EQ(
      job.Why(),
      "queue_length has not been measured for 1.08 h, so the count is 30: at least the highest of the last "
      "day.");
  EXPECT_EQ(job.At(125, {}), 30) << "none at all is the same";
  (void)job.At(130, {20, 10});
  EXPECT_EQ(job.count, 3);
  SignalJob zero("queue_length / requests");
  EXPECT_EQ(zero.At(0, {40, 10}), 4);
  EXPECT_EQ(zero.At(5, {40, 0}), 4) << "a division by zero holds";
  EXPECT_EQ(zero.At(10, {0, 0}), 4) << "and so does what is not a number";
  SignalJob both("queue_length / 10 + load / capacity");
  EXPECT_EQ(both.At(0, {40, 10}), 3);
  EXPECT_EQ(both.Why(), "The load and the capacity of a task were not measured, so the count stays 3.");
}

TEST(Function, AStateOfSignalsGoesOnAsItWas) {
  SignalJob job("max(queue_length, 30m) / 10 + p95(requests, 20m) / 10"),
      restored(job.settings.function.target);
  const auto at = [](int m) {
    return std::vector<double>{100.0 + 37 * (m % 7), m % 11 == 0 ? -1.0 : 20.0 + m % 5};
  };
  for (int m = 0; m < 200; m += 5) {
    (void)job.At(m, at(m));
    const std::string state = SaveReplicaPolicy("function", *job.policy);
    auto loaded = LoadReplicaPolicy(state, job.settings);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    restored.policy = *std::move(loaded);
    restored.count = job.count;
    EXPECT_EQ(SaveReplicaPolicy("function", *restored.policy), state);
    EXPECT_EQ(restored.Why(), job.Why());
    const auto copy = job.policy->Clone();
    EXPECT_EQ(SaveReplicaPolicy("function", *copy), state);
    const std::vector<double> next = at(m + 1);
    const LoadSample sample{
        .at = Timestamp::FromSeconds(m * 60 + 60), .load = std::nullopt, .ready = job.count, .signals = next};
    EXPECT_EQ(restored.policy->Decide(sample), copy->Decide(sample));
  }
}

TEST(Function, MemoryIsBoundedByTheLongestSpan) {
  ReplicaSettings s = Plain("p95_over(14 * 1440) + max_over(14 * 1440)");
  s.step_s = 1;
  const FunctionPolicy policy(s);
  EXPECT_LT(policy.state_bytes(), size_t{400} * 1024);
  EXPECT_LT(FunctionPolicy(ReplicaSettings()).state_bytes(), size_t{8} * 1024);
}

TEST(Function, TheScheduleAndTheBoundsLimitIt) {
  ReplicaSettings s = Plain("load");
  s.bounds.max = 20;
  ASSERT_TRUE(SetReplicaSetting("replicas.schedule", "from 0 8 * * * to 0 18 * * * min 15", s).ok());
  const auto policy = NewReplicaPolicy(**FindReplicaPolicy("function"), s);
  EXPECT_EQ(policy->Decide({Timestamp::FromSeconds(3600), 40.0, 1, 5, 0}), 20);
  EXPECT_EQ(policy->Decide({Timestamp::FromSeconds(9 * 3600), 2.0, 1, 5, 0}), 15);
}

}  // namespace
}  // namespace taut::brain
