#include "brain/replicas/silence.h"

#include "brain/replicas/policies.h"
#include "brain/replicas/reason_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck.h"
#include "rapidcheck/gtest.h"

namespace taut::brain {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

TEST(SafeCount, IsTheHighestOfTheLastDayHeardAndTheDayBefore) {
  SafeCount safe;
  EXPECT_FALSE(safe.After(kDaySeconds, 0).has_value()) << "nothing was heard yet";
  safe.TakeHeard(100, 9);
  safe.TakeHeard(kDaySeconds, 5);
  EXPECT_FALSE(safe.After(kDaySeconds + 299, 300).has_value());
  EXPECT_THAT(safe.After(kDaySeconds + 300, 300), Optional(9));
  safe.TakeHeard(kDaySeconds + 300, 3);
  EXPECT_EQ(safe.count(), 9) << "of the day before";
  safe.TakeHeard(2 * kDaySeconds + 1, 2);
  EXPECT_EQ(safe.count(), 3);
  safe.TakeHeard(9 * kDaySeconds, 1);
  EXPECT_EQ(safe.count(), 1) << "days without anything in between";
}

RC_GTEST_PROP(SafeCount, OutlivesARestart, (const std::vector<uint16_t>& counts)) {
  SafeCount safe, restored;
  int64_t at_s = 0;
  for (const uint16_t count : counts) safe.TakeHeard(at_s += 7200 + count, count);
  std::string bytes;
  ByteWriter out(&bytes);
  safe.Save(out);
  ByteReader in(bytes);
  RC_ASSERT(restored.Load(in).ok());
  RC_ASSERT(restored.After(at_s + 60, 60) == safe.After(at_s + 60, 60));
  for (size_t n = 0; n < bytes.size(); ++n) {
    ByteReader cut(std::string_view(bytes).substr(0, n));
    RC_ASSERT(!restored.Load(cut).ok());
  }
}

std::unique_ptr<ReplicaPolicy> Hpa(std::string_view metrics) {
  ReplicaSettings settings;
  settings.signals = {"queue"};
  settings.bounds.max = 100;
  EXPECT_TRUE(SetReplicaSetting("hpa.metrics", metrics, settings).ok());
  return WithSafeCount(NewReplicaPolicy(**FindReplicaPolicy("hpa"), settings), 3600);
}

LoadSample At(int64_t minute, int ready, std::span<const double> signals, std::optional<double> load = {}) {
  return {.at = Timestamp::FromSeconds(minute * 60),
          .load = load,
          .capacity = 1,
          .ready = ready,
          .signals = signals};
}

TEST(Silence, ASilentSignalIsHeldAndThenSafeInAReplayToo) {
  const auto policy = Hpa("only queue 10 per task");
  const double high[] = {300}, low[] = {20}, absent[] = {-1};
  int count = 4;
  int64_t minute = 0;
  for (; minute < 5; ++minute) count = policy->Decide(At(minute, count, high));
  ASSERT_EQ(count, 30);
  for (; minute < 30; ++minute) count = policy->Decide(At(minute, count, low));
  ASSERT_EQ(count, 2);
  const std::unique_ptr<ReplicaPolicy> copy = policy->Clone();
  for (; minute < 89; ++minute) ASSERT_EQ(count = policy->Decide(At(minute, count, absent)), 2) << minute;
  EXPECT_EQ(count = policy->Decide(At(minute, count, absent)), 30);
  EXPECT_THAT(SentenceOf(*policy),
              HasSubstr("Not measured for 60 min: queue. The highest number of the last day, 30"));
  EXPECT_EQ(SentenceOf(*policy->Clone()), SentenceOf(*policy));
  EXPECT_EQ(copy->Decide(At(minute, 2, absent)), 30);
  for (int i = 0; i < 10; ++i) count = policy->Decide(At(++minute, count, low));
  EXPECT_EQ(count, 2) << "it is back";
}

TEST(Silence, WhatIsMissingIsNamed) {
  const double absent[] = {-1};
  EXPECT_EQ(MissingText(*Hpa("queue 10 per task"), At(0, 1, absent)), "the load and queue");
  EXPECT_EQ(MissingText(*Hpa("queue 10 per task"), At(0, 1, absent, 1.0)), "queue");
  EXPECT_EQ(MissingText(*Hpa("only queue 10 per task"), At(0, 1, absent)), "queue");
  EXPECT_EQ(MissingText(*Hpa("only cpu 10"), At(0, 1, absent)), "cpu");
  EXPECT_EQ(MissingText(*Hpa("only cpu 10"), At(0, 0, absent)), "") << "no task runs that could use any";
}

TEST(Silence, AStateIsRestoredWithOrWithoutAnExternalAnswer) {
  const double high[] = {300}, absent[] = {-1};
  for (const bool external : {false, true}) {
    const auto policy = Hpa("only queue 10 per task"), restored = Hpa("only queue 10 per task");
    (void)policy->Decide(At(0, 10, high));
    if (external) policy->TakeExternal(ExternalTasks{7, Timestamp::FromSeconds(60), "because"});
    std::string bytes;
    ByteWriter out(&bytes);
    policy->Save(out);
    ByteReader in(bytes);
    ASSERT_TRUE(restored->Load(in).ok());
    for (const int64_t minute : {1, 2, 61, 62})
      EXPECT_EQ(restored->Decide(At(minute, 3, absent)), policy->Decide(At(minute, 3, absent))) << minute;
  }
}

}  // namespace
}  // namespace taut::brain
