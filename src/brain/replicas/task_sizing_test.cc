// Tests of each rule's effect on the size and number of tasks.
#include "brain/replicas/task_sizing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/base/byte_units.h"
#include "common/base/random.h"

namespace taut::brain {
namespace {

using testing::HasSubstr;
using testing::Not;

// Returns a task's memory as a line: `fixed` bytes plus `slope` bytes per core of load.
DecayedLine Memory(double fixed, double slope) {
  DecayedLine line(200);
  for (int i = 0; i < 800; ++i) {
    const double x = 1 + 0.5 * std::sin(i * 0.1);
    line.Add(x, fixed + slope * x);
  }
  return line;
}

// Returns the hourly loads of a week with a daily wave between `low` and `high` cores.
std::vector<float> Week(double low, double high) {
  std::vector<float> loads;
  for (int h = 0; h < 168; ++h) {
    const double wave = 0.5 - 0.5 * std::cos(h * 2 * M_PI / 24);
    loads.push_back(static_cast<float>(low + (high - low) * wave));
  }
  return loads;
}

class TaskSizing : public testing::Test {
 protected:
  SizingChoice Choose(double now) {
    in_.loads = loads_;
    in_.memory = &memory_;
    in_.now_cores = now;
    return ChooseSize(in_, settings_, bounds_);
  }
  const SizeOption& Chosen(double now) {
    choice_ = Choose(now);
    return choice_.options[choice_.chosen];
  }
  SizeFault FaultOf(const SizingChoice& choice, double cores) {
    for (const SizeOption& o : choice.options)
      if (std::abs(o.cores - cores) < 1e-6) return o.fault;
    ADD_FAILURE() << "no option of " << cores;
    return SizeFault::kNone;
  }

  std::vector<float> loads_ = Week(2, 8.4);
  DecayedLine memory_ = Memory(0.5 * kGiB, 0.5 * kGiB);
  SizingInput in_{.loads = {}, .utilization = 0.7};
  SizingSettings settings_;
  ReplicaBounds bounds_;
  SizingChoice choice_;
};

TEST_F(TaskSizing, CostIsTasksTimesTheirCoresAndMemory) {
  loads_ = {7, 7, 14};
  const SizingChoice choice = Choose(2);
  const SizeOption& now = choice.options[choice.now];
  EXPECT_EQ(now.peak_tasks, 10) << "14 cores at 70 % of 2";
  EXPECT_NEAR(now.mean_tasks, (5 + 5 + 10) / 3.0, 1e-9);
  EXPECT_NEAR(now.memory_bytes, 0.5 * kGiB + 1.4 * 0.5 * kGiB, 0.01 * kGiB);
  EXPECT_NEAR(now.cost, 20 / 3.0 * (2 + 0.13 * 1.2), 0.01);
}

TEST_F(TaskSizing, MemoryThatEachTaskNeedsAnewMakesTasksLarge) {
  memory_ = Memory(0.05 * kGiB, 0.5 * kGiB);
  const double lean = Chosen(4).cores;
  memory_ = Memory(8 * kGiB, 0.5 * kGiB);
  const double heavy = Chosen(4).cores;
  EXPECT_LT(lean, heavy);
}

TEST_F(TaskSizing, ALostTaskMustNotOverloadTheOthers) {
  memory_ = Memory(20 * kGiB, 0.5 * kGiB);  // this memory makes a few large tasks cheap
  const SizingChoice choice = Choose(4);
  EXPECT_EQ(choice.options[choice.now].peak_tasks, 3);
  EXPECT_EQ(choice.options[choice.now].fault, SizeFault::kLoss) << "2 x 4 cores do not carry 8.4";
  const SizeOption& chosen = choice.options[choice.chosen];
  EXPECT_GE((chosen.peak_tasks - 1) * chosen.cores, 8.4);
  Reason reason;
  ExplainSize(choice, settings_, reason);
  EXPECT_THAT(reason.sentence, HasSubstr("but without one task the others could not carry the peak"));
  settings_.spare = 0;
  EXPECT_LT(Chosen(4).peak_tasks, chosen.peak_tasks);
}

TEST_F(TaskSizing, NoTaskIsLargerThanANodeHolds) {
  memory_ = Memory(8 * kGiB, 0.5 * kGiB);
  settings_.spare = 0;
  settings_.max_cores = 3;
  EXPECT_LE(Chosen(2).cores, 3);
  EXPECT_EQ(FaultOf(choice_, 4), SizeFault::kTooLarge);
  settings_.max_cores = 16;
  settings_.max_bytes = 9 * kGiB;
  EXPECT_LE(Chosen(2).memory_bytes, 9 * kGiB);
}

TEST_F(TaskSizing, ALargerTaskOfTheOwnersStays) {
  loads_ = Week(10, 40);
  settings_.max_cores = 3;
  settings_.min_saving = 1;
  EXPECT_EQ(Chosen(10).cores, 10);
}

TEST_F(TaskSizing, BoundsOfTheNumberHold) {
  bounds_.max = 4;
  settings_.spare = 0;
  EXPECT_LE(Chosen(3).peak_tasks, 4);
  EXPECT_EQ(FaultOf(choice_, 1.5), SizeFault::kTooMany);
  bounds_ = {.min = 6, .max = 100};
  EXPECT_GE(Chosen(3).mean_tasks, 6);
}

TEST_F(TaskSizing, UnevenTasksAreNotMadeSmaller) {
  memory_ = Memory(0.01 * kGiB, 0.5 * kGiB);
  settings_.min_saving = 0;
  in_.mean_load = 1.4;
  in_.deviation = 0.14;  // three deviations fill the 30 % of the limit above a utilisation of 70 %
  const double uneven = Chosen(2).cores;
  in_.deviation = 0;
  EXPECT_LT(Chosen(2).cores, uneven);
  EXPECT_EQ(uneven, 2);
}

TEST_F(TaskSizing, AChangeHasToPay) {
  const double best = Chosen(20).cores;
  for (const SizeOption& o : Choose(best).options) {
    if (o.fault != SizeFault::kNone || o.cores > 8) continue;
    const SizeOption now = o;
    const SizeOption& then = Chosen(now.cores);
    EXPECT_TRUE(then.cores == now.cores || then.cost < 0.9 * now.cost) << now.cores;
  }
}

TEST_F(TaskSizing, TheExplanationNamesBothSizes) {
  memory_ = Memory(0.4 * kGiB, 0.3 * kGiB);
  const SizingChoice choice = Choose(4);
  Reason reason;
  ExplainSize(choice, settings_, reason);
  const SizeOption& chosen = choice.options[choice.chosen];
  EXPECT_THAT(reason.sentence, HasSubstr(std::to_string(chosen.peak_tasks) + " x "));
  EXPECT_THAT(reason.sentence, HasSubstr("would cost"));
  EXPECT_EQ(std::ranges::count_if(reason.candidates, &Candidate::chosen), 1);
  EXPECT_GT(reason.candidates.size(), 5U);
  EXPECT_THAT(reason.sentence, Not(HasSubstr("nan")));
}

// The explanation does not compare the chosen size with a size that has too few tasks.
TEST_F(TaskSizing, TheExplanationComparesOnlyWithWhatCarriesThePeak) {
  bounds_ = {.min = 1, .max = 4};
  const SizingChoice choice = Choose(3);
  ASSERT_EQ(FaultOf(choice, 1.5), SizeFault::kTooMany);
  Reason reason;
  ExplainSize(choice, settings_, reason);
  EXPECT_THAT(reason.sentence, Not(HasSubstr("replicas.max")));
}

TEST_F(TaskSizing, OfAnythingTheChoiceIsOneThatCarriesThePeak) {
  Rng rng(3);
  for (int i = 0; i < 500; ++i) {
    loads_ = Week(rng.Uniform(0, 5), rng.Uniform(0.01, 200));
    memory_ = Memory(rng.Uniform(0, 4) * kGiB, rng.Uniform(0, 4) * kGiB);
    in_.utilization = rng.Uniform(0.1, 1);
    in_.deviation = rng.Uniform(0, 0.5);
    in_.mean_load = rng.Uniform(0.1, 2);
    bounds_ = {.min = static_cast<int>(rng.Below(4)), .max = 4 + static_cast<int>(rng.Below(200))};
    settings_.spare = static_cast<double>(rng.Below(3));
    const double now = rng.Uniform(0.1, 10);
    const SizingChoice choice = Choose(now);
    ASSERT_LT(choice.chosen, choice.options.size());
    EXPECT_EQ(choice.options[choice.now].cores, now);
    EXPECT_TRUE(std::ranges::is_sorted(choice.options, std::greater<>(), &SizeOption::cores));
    const SizeOption& chosen = choice.options[choice.chosen];
    if (choice.chosen == choice.now) continue;
    EXPECT_EQ(chosen.fault, SizeFault::kNone);
    EXPECT_GE(chosen.peak_tasks * chosen.cores * in_.utilization, choice.peak * 0.999);
    EXPECT_LE(chosen.peak_tasks, bounds_.max);
  }
}

}  // namespace
}  // namespace taut::brain
