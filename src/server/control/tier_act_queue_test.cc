#include "server/control/tier_act_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/strings.h"

namespace taut::server {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

TierAct Act(int64_t at_s, std::string task = "a", TierActKind kind = TierActKind::kKill) {
  TierAct act;
  act.time_s = at_s;
  act.at_us = at_s * 1'000'000;
  act.machine = "host1";
  act.job = "batch/x";
  act.task = std::move(task);
  act.kind = kind;
  return act;
}

TEST(TierActQueue, AnActReportedTwiceIsTakenOnce) {
  TierActQueue queue;
  EXPECT_TRUE(queue.Take(Act(5)).ok());
  EXPECT_TRUE(queue.Take(Act(5)).ok());
  EXPECT_TRUE(queue.Take(Act(5, "b")).ok());
  EXPECT_TRUE(queue.Take(Act(5, "a", TierActKind::kThrottle)).ok());
  EXPECT_THAT(queue.TakeAll(100), SizeIs(3));
  EXPECT_TRUE(queue.Take(Act(5)).ok());
  EXPECT_THAT(queue.TakeAll(100), IsEmpty()) << "also after it was stored";
}

TEST(TierActQueue, WhatIsStoredIsKnownAfterARestart) {
  TierActQueue queue;
  queue.Remember(std::vector<TierAct>{Act(6), Act(5)});
  EXPECT_TRUE(queue.Take(Act(5)).ok());
  EXPECT_TRUE(queue.Take(Act(7)).ok());
  const std::vector<TierAct> taken = queue.TakeAll(100);
  ASSERT_THAT(taken, SizeIs(1));
  EXPECT_EQ(taken[0].time_s, 7);
}

TEST(TierActQueue, ATimeOfTheFutureIsShownAsNowAndStaysTheSameAct) {
  TierActQueue queue;
  EXPECT_TRUE(queue.Take(Act(1'000'000)).ok());
  const std::vector<TierAct> taken = queue.TakeAll(50);
  ASSERT_THAT(taken, SizeIs(1));
  EXPECT_EQ(taken[0].time_s, 50);
  TierActQueue after;
  after.Remember(taken);
  EXPECT_TRUE(after.Take(Act(1'000'000)).ok());
  EXPECT_THAT(after.TakeAll(60), IsEmpty());
}

TEST(TierActQueue, ItIsBounded) {
  TierActQueue queue;
  for (size_t i = 0; i < TierActQueue::kMostWaiting; ++i) {
    ASSERT_TRUE(queue.Take(Act(5, StrCat("t", i))).ok());
  }
  EXPECT_TRUE(absl::IsUnavailable(queue.Take(Act(6))));
  EXPECT_THAT(queue.TakeAll(100), SizeIs(TierActQueue::kMostWaiting));
  EXPECT_TRUE(queue.Take(Act(6)).ok()) << "it was not taken, and is no repeat";
  EXPECT_THAT(queue.TakeAll(100), SizeIs(1));
}

}  // namespace
}  // namespace taut::server
