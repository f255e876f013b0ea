// Tests the writes to the kernel for a limit: the files, their order and the bounds of their values.
#include "node/agent/agent_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "common/base/byte_units.h"
#include "node/agent/messages.h"

namespace taut::node {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TaskRule Rule(CpuStyle cpu, MemoryStyle memory) {
  TaskRule rule;
  rule.manage = true;
  rule.cpu = cpu;
  rule.memory = memory;
  return rule;
}

TEST(WritesFor, OneFileForAHardLimit) {
  const TaskRule rule = Rule(CpuStyle::kHard, MemoryStyle::kHard);
  EXPECT_THAT(WritesFor(rule, Resource::kMemory, 64 * kMiB, std::nullopt),
              ElementsAre(Pair(LimitKind::kMemoryMax, 64 * kMiB)));
  EXPECT_THAT(WritesFor(rule, Resource::kMemory, std::nullopt, 1.0),
              ElementsAre(Pair(LimitKind::kMemoryMax, std::nullopt)));
  EXPECT_THAT(WritesFor(rule, Resource::kCpu, 1.5, 2.0), ElementsAre(Pair(LimitKind::kCpuMax, 1.5)));
  EXPECT_THAT(WritesFor(rule, Resource::kCpu, 0.001, 2.0), ElementsAre(Pair(LimitKind::kCpuMax, 0.01)))
      << "the kernel takes no quota below 1 ms a period";
  EXPECT_THAT(WritesFor(rule, Resource::kCpu, std::nullopt, 2.0),
              ElementsAre(Pair(LimitKind::kCpuMax, std::nullopt)));
}

TEST(WritesFor, TheHigherBoundGoesUpFirstAndComesDownLast) {
  const TaskRule rule = Rule(CpuStyle::kSoft, MemoryStyle::kSoft);
  EXPECT_EQ(WritesFor(rule, Resource::kMemory, 100 * kMiB, 50 * kMiB)[0].first, LimitKind::kMemoryMax);
  EXPECT_EQ(WritesFor(rule, Resource::kMemory, 100 * kMiB, 200 * kMiB)[0].first, LimitKind::kMemoryHigh);
  EXPECT_EQ(WritesFor(rule, Resource::kMemory, 100 * kMiB, std::nullopt)[0].first, LimitKind::kMemoryHigh)
      << "from no limit it is down";
  EXPECT_THAT(
      WritesFor(rule, Resource::kMemory, std::nullopt, 1.0),
      ElementsAre(Pair(LimitKind::kMemoryMax, std::nullopt), Pair(LimitKind::kMemoryHigh, std::nullopt)));
  for (const auto& [kind, value] : WritesFor(rule, Resource::kMemory, 100 * kMiB, 50 * kMiB)) {
    EXPECT_NEAR(*value, kind == LimitKind::kMemoryMax ? 110 * kMiB : 100 * kMiB, 1);
  }
}

TEST(WritesFor, WhatIsOnlyMeasuredIsNotWritten) {
  const TaskRule rule = Rule(CpuStyle::kNone, MemoryStyle::kNone);
  TaskLimits owner;
  owner.cpu_max_cores = 1;
  owner.memory_max_bytes = 1;
  for (const Resource r : kResources) {
    EXPECT_THAT(WritesFor(rule, r, 1.0, 2.0), IsEmpty());
    EXPECT_THAT(WritesForOwner(rule, r, owner), IsEmpty());
  }
}

TEST(WritesForOwner, SaysWhatTheOwnerHadOfEachFileThatTheRuleUses) {
  TaskLimits owner;
  owner.memory_max_bytes = 64 * kMiB;
  owner.cpu_weight = 100;
  owner.cpu_max_cores = 3;
  const TaskRule soft = Rule(CpuStyle::kSoft, MemoryStyle::kSoft);
  EXPECT_THAT(WritesForOwner(soft, Resource::kCpu, owner), ElementsAre(Pair(LimitKind::kCpuWeight, 100.0)));
  EXPECT_THAT(WritesForOwner(soft, Resource::kMemory, owner),
              ::testing::UnorderedElementsAre(Pair(LimitKind::kMemoryMax, 64 * kMiB),
                                              Pair(LimitKind::kMemoryHigh, std::nullopt)));
  const TaskRule hard = Rule(CpuStyle::kHard, MemoryStyle::kHard);
  EXPECT_THAT(WritesForOwner(hard, Resource::kCpu, owner), ElementsAre(Pair(LimitKind::kCpuMax, 3.0)));
}

TEST(LimitOf, IsWhatTheRuleSteers) {
  TaskLimits limits;
  limits.memory_max_bytes = 110;
  limits.memory_high_bytes = 100;
  limits.cpu_max_cores = 2;
  limits.cpu_weight = WeightOfCores(1);
  const TaskRule soft = Rule(CpuStyle::kSoft, MemoryStyle::kSoft);
  const TaskRule hard = Rule(CpuStyle::kHard, MemoryStyle::kHard);
  EXPECT_EQ(LimitOf(soft, Resource::kMemory, limits), 100.0);
  EXPECT_EQ(LimitOf(hard, Resource::kMemory, limits), 110.0);
  EXPECT_NEAR(*LimitOf(soft, Resource::kCpu, limits), 1, 0.03);
  EXPECT_EQ(LimitOf(hard, Resource::kCpu, limits), 2.0);
  limits.memory_high_bytes.reset();
  EXPECT_EQ(LimitOf(soft, Resource::kMemory, limits), 110.0) << "an owner's hard limit counts";
  EXPECT_EQ(LimitOf(hard, Resource::kCpu, TaskLimits()), std::nullopt);
}

TEST(Bounded, KeepsWithinTheRule) {
  TaskRule rule = Rule(CpuStyle::kHard, MemoryStyle::kHard);
  EXPECT_EQ(Bounded(rule, Resource::kCpu, 7.0), 7.0);
  rule.cpu_lower = 0.5;
  rule.cpu_upper = 4;
  rule.memory_upper = 100;
  EXPECT_EQ(Bounded(rule, Resource::kCpu, 7.0), 4.0);
  EXPECT_EQ(Bounded(rule, Resource::kCpu, 0.1), 0.5);
  EXPECT_EQ(Bounded(rule, Resource::kMemory, 7.0), 7.0);
  EXPECT_EQ(Bounded(rule, Resource::kMemory, 700.0), 100.0);
  EXPECT_EQ(Bounded(rule, Resource::kMemory, std::nullopt), std::nullopt);
}

TEST(Weight, OfACoreIsWhatContainerRuntimesGive) {
  EXPECT_EQ(WeightOfCores(1), 39);  // the weight of 1,024 shares
  EXPECT_EQ(WeightOfCores(0), 1);
  EXPECT_EQ(WeightOfCores(1e9), 10'000);
  EXPECT_NEAR(CoresOfWeight(100), 2.537, 0.001);
}

RC_GTEST_PROP(Weight, IsMonotonicAndComesBack, ()) {
  const double weight = *rc::gen::inRange(1, 10'001);
  const double back = WeightOfCores(CoresOfWeight(weight));
  RC_ASSERT(std::abs(back - weight) <= 1);
  const double cores = *rc::gen::inRange(1, 200'000) / 1000.0;
  RC_ASSERT(WeightOfCores(cores) <= WeightOfCores(cores * 1.5));
  RC_ASSERT(WeightOfCores(cores) >= 1);
}

TEST(SameLimit, ForgivesWhatKernelsRound) {
  EXPECT_TRUE(SameLimit(LimitKind::kMemoryMax, 64 * kMiB, 64 * kMiB + 4095));
  EXPECT_FALSE(SameLimit(LimitKind::kMemoryMax, 64 * kMiB, 65 * kMiB));
  EXPECT_TRUE(SameLimit(LimitKind::kMemoryMax, std::nullopt, std::nullopt));
  EXPECT_FALSE(SameLimit(LimitKind::kMemoryMax, std::nullopt, 1e18));
  EXPECT_TRUE(SameLimit(LimitKind::kCpuMax, 0.123, 0.12));
  EXPECT_FALSE(SameLimit(LimitKind::kCpuMax, 0.5, 0.6));
  EXPECT_FALSE(SameLimit(LimitKind::kCpuWeight, 100, 102));
}

TEST(AgentTask, RemembersThePeakOfTheLastMinute) {
  FoundTask found;
  found.identity = "a";
  const TaskRule rule = Rule(CpuStyle::kHard, MemoryStyle::kHard);
  AgentTask task(found, rule, nullptr, MeterOptions(), MoverOptions());
  EXPECT_EQ(task.recent_peak(), std::nullopt);
  task.NotePeak(50, 0, 30);
  task.NotePeak(10, 20, 30);
  EXPECT_EQ(task.recent_peak(), 50.0);
  task.NotePeak(11, 31, 30);
  EXPECT_EQ(task.recent_peak(), 50.0) << "the span before counts too";
  task.NotePeak(12, 62, 30);
  EXPECT_EQ(task.recent_peak(), 12.0);
  task.NotePeak(std::nullopt, 93, 30);
  EXPECT_EQ(task.recent_peak(), 12.0);
}

TEST(AgentTask, ASpanEndsAtItsEndWheneverItBegan) {
  FoundTask found;
  found.identity = "a";
  const TaskRule rule = Rule(CpuStyle::kHard, MemoryStyle::kHard);
  AgentTask task(found, rule, nullptr, MeterOptions(), MoverOptions());
  task.NotePeak(50, 1000, 30);
  task.NotePeak(10, 1010, 30);
  task.NotePeak(11, 1020, 30);
  task.NotePeak(12, 1029, 30);
  EXPECT_EQ(task.recent_peak(), 50.0) << "of one span";
  task.NotePeak(13, 1030, 30);
  task.NotePeak(14, 1059, 30);
  EXPECT_EQ(task.recent_peak(), 50.0) << "of the span before";
  task.NotePeak(15, 1060, 30);
  EXPECT_EQ(task.recent_peak(), 15.0);
}

constexpr int64_t kSecondUs = 1'000'000;

// Two events within 2 s report one kill.
TEST(OomTally, WithoutACounterEachEventIsAKillUnlessItComesTwice) {
  OomTally tally;
  tally.Begin(0);
  EXPECT_EQ(tally.Event(false, 10 * kSecondUs), 1U);
  EXPECT_EQ(tally.Event(false, 12 * kSecondUs - 1), 0U);
  EXPECT_EQ(tally.Event(false, 12 * kSecondUs), 1U);
}

TEST(OomTally, ACounterThatDidNotMoveExplainsNoKillOfThisStart) {
  OomTally first;
  first.Begin(0);
  EXPECT_EQ(first.Event(true, kSecondUs), 0U);
  EXPECT_EQ(first.Unexplained(kSecondUs), 0U) << "no start ended before";
  OomTally second;
  second.Begin(0);
  EXPECT_EQ(second.End(10 * kSecondUs), 0U);
  second.Begin(11 * kSecondUs);
  EXPECT_EQ(second.Unexplained(11 * kSecondUs), 0U) << "nobody told of a kill";
  EXPECT_EQ(second.Event(true, 12 * kSecondUs), 0U);
  EXPECT_EQ(second.Unexplained(12 * kSecondUs), 1U) << "of the end of the last start";
  EXPECT_EQ(second.Event(true, 12 * kSecondUs), 0U);
  EXPECT_EQ(second.Unexplained(12 * kSecondUs), 0U) << "which had one end";
  EXPECT_EQ(second.LateEvent(), 0U);
}

TEST(OomTally, AnEventLongAfterAStartIsNotOfTheLastOne) {
  OomTally tally;
  tally.Begin(0);
  tally.End(10 * kSecondUs);
  tally.Begin(11 * kSecondUs);
  EXPECT_EQ(tally.Event(true, 13 * kSecondUs), 0U);
  EXPECT_EQ(tally.Unexplained(13 * kSecondUs), 0U);
}

TEST(WritesFor, MemoryHighStandsBesideMemoryMaxAsItIsWritten) {
  const TaskRule rule = Rule(CpuStyle::kHard, MemoryStyle::kSoft);
  const LimitWrites writes = WritesFor(rule, Resource::kMemory, 64 * kMiB, 32 * kMiB);
  ASSERT_EQ(writes[0].first, LimitKind::kMemoryMax);
  EXPECT_DOUBLE_EQ(HighBeside(*writes[0].second), 64 * kMiB);
}

TEST(MayBeWritten, NotWhereTheKernelRefuses) {
  using enum absl::StatusCode;
  for (const absl::StatusCode refused :
       {kInvalidArgument, kUnimplemented, kPermissionDenied, kResourceExhausted})
    EXPECT_FALSE(MayBeWritten(refused)) << refused;
  for (const absl::StatusCode unknown : {kOk, kUnavailable, kNotFound, kDeadlineExceeded, kUnknown})
    EXPECT_TRUE(MayBeWritten(unknown)) << unknown;
}

}  // namespace
}  // namespace taut::node
