// Tests limits that move in steps: case by case, and through days of random orders, kills, usage and changes by
// other programs.
#include "node/agent/limit_mover.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/base/byte_units.h"

namespace taut::node {
namespace {

constexpr int64_t kSecond = 1'000'000;
using Write = std::optional<std::optional<double>>;

LimitMover Memory(std::optional<double> current, const MoverOptions& options = {}) {
  LimitMover mover(Resource::kMemory, options);
  mover.SetCurrent(current);
  return mover;
}
LimitMover Cpu(std::optional<double> current) {
  LimitMover mover(Resource::kCpu, {});
  mover.SetCurrent(current);
  return mover;
}
Write At(LimitMover& mover, double usage, int64_t s) { return mover.Next(usage, usage, s * kSecond); }
double Safe(double usage) { return usage * 1.1 + std::min(4.0 * kMiB, usage * 0.04); }

TEST(LimitMover, TimesAreShorterWhereTheClockRunsFaster) {
  const MoverOptions plain, fast = plain.AtSpeed(100);
  EXPECT_EQ(fast.step_interval_us, plain.step_interval_us / 100);
  EXPECT_EQ(fast.backoff_us, plain.backoff_us / 100);
  EXPECT_EQ(fast.max_backoff_us, plain.max_backoff_us / 100);
  EXPECT_EQ(fast.throttle_hold_us, plain.throttle_hold_us / 100);
  EXPECT_EQ(fast.shrink_share, plain.shrink_share);
  EXPECT_EQ(plain.AtSpeed(1e9).step_interval_us, 1) << "never 0";
}

TEST(LimitMover, NothingOrderedNothingDone) {
  LimitMover mover = Memory(100 * kMiB);
  EXPECT_EQ(At(mover, 200 * kMiB, 0), std::nullopt);
  EXPECT_EQ(mover.status().state, MoveState::kIdle);
  EXPECT_EQ(mover.Sentence(), "");
  mover.SetTarget(200 * kMiB);
  mover.ClearTarget();
  EXPECT_EQ(At(mover, 0, 0), std::nullopt);
}

TEST(LimitMover, UpAtOnceEvenBlindly) {
  LimitMover mover = Memory(100 * kMiB);
  mover.SetTarget(900 * kMiB);
  EXPECT_EQ(mover.Next(std::nullopt, std::nullopt, 0), Write(900 * kMiB));
  mover.Wrote(900 * kMiB, 0);
  EXPECT_EQ(mover.status().state, MoveState::kIdle);
  mover.SetTarget(std::nullopt);
  EXPECT_EQ(mover.Next(std::nullopt, std::nullopt, 1), Write(std::optional<double>()));
  mover.Wrote(std::nullopt, 1);
  EXPECT_EQ(mover.current(), std::nullopt);
  EXPECT_EQ(mover.status().state, MoveState::kIdle);
  EXPECT_EQ(mover.Next(1.0, 1.0, 2), std::nullopt);
}

TEST(LimitMover, MemoryDownInSteps) {
  LimitMover mover = Memory(1000 * kMiB);
  mover.SetTarget(600 * kMiB);
  EXPECT_EQ(At(mover, 100 * kMiB, 10), Write(800 * kMiB));
  mover.Wrote(800 * kMiB, 10 * kSecond);
  EXPECT_EQ(mover.status().state, MoveState::kStepping);
  EXPECT_EQ(mover.Sentence(), "in progress from 800 MiB to 600 MiB");
  EXPECT_EQ(mover.Next(1.0, 1.0, 11 * kSecond - 1), std::nullopt);
  EXPECT_EQ(mover.status().state, MoveState::kStepping);
  EXPECT_EQ(At(mover, 100 * kMiB, 11), Write(640 * kMiB));
  mover.Wrote(640 * kMiB, 11 * kSecond);
  EXPECT_EQ(At(mover, 100 * kMiB, 12), Write(600 * kMiB));
  mover.Wrote(600 * kMiB, 12 * kSecond);
  EXPECT_EQ(mover.status().state, MoveState::kIdle);
  EXPECT_EQ(At(mover, 100 * kMiB, 13), std::nullopt);
}

TEST(LimitMover, UsageHoldsMemoryAndLetsGo) {
  LimitMover mover = Memory(300 * kMiB);
  mover.SetTarget(100 * kMiB);
  EXPECT_EQ(mover.Next(100 * kMiB, 240 * kMiB, 0), Write(Safe(240 * kMiB)));
  mover.Wrote(Safe(240 * kMiB), 0);
  EXPECT_EQ(mover.Next(100 * kMiB, 240 * kMiB, 2 * kSecond), std::nullopt);
  EXPECT_EQ(mover.status().state, MoveState::kHeld);
  EXPECT_EQ(mover.Sentence(), "usage 240 MiB and its margin are above the ordered limit");
  EXPECT_EQ(mover.Next(100 * kMiB, 239 * kMiB, 3 * kSecond), std::nullopt);  // too small a step for a write
  EXPECT_EQ(mover.Next(20 * kMiB, 150 * kMiB, 4 * kSecond), Write(Safe(240 * kMiB) * 0.8));
  // The usage is above the limit, but without an order the limit is not raised.
  EXPECT_EQ(mover.Next(290 * kMiB, 290 * kMiB, 4 * kSecond), std::nullopt);
  EXPECT_EQ(mover.status().state, MoveState::kHeld);
}

TEST(LimitMover, MemoryDoesNotGoDownBlindly) {
  LimitMover mover = Memory(300 * kMiB);
  mover.SetTarget(100 * kMiB);
  EXPECT_EQ(mover.Next(std::nullopt, 10.0, 0), std::nullopt);
  EXPECT_EQ(mover.Next(10.0, std::nullopt, 0), std::nullopt);
  EXPECT_EQ(mover.status().state, MoveState::kHeld);
  EXPECT_EQ(mover.Sentence(), "usage is unknown: a memory limit is not lowered without it");
}

TEST(LimitMover, FromNoLimitInOneStep) {
  LimitMover mover = Memory(std::nullopt);
  mover.SetTarget(100 * kMiB);
  EXPECT_EQ(At(mover, 200 * kMiB, 0), Write(Safe(200 * kMiB)));
  EXPECT_EQ(At(mover, 20 * kMiB, 0), Write(100 * kMiB));
}

TEST(LimitMover, CpuBothWaysAtOnce) {
  LimitMover mover = Cpu(4.0);
  mover.SetTarget(0.5);
  EXPECT_EQ(mover.Next(std::nullopt, std::nullopt, 0), Write(0.5));
  mover.Wrote(0.5, 0);
  mover.SetTarget(2.0);
  EXPECT_EQ(mover.Next(std::nullopt, std::nullopt, 0), Write(2.0));
}

TEST(LimitMover, NearIsThere) {
  LimitMover memory = Memory(1000 * kMiB);
  memory.SetTarget(1000.9 * kMiB);
  EXPECT_EQ(At(memory, 0, 0), std::nullopt);
  EXPECT_EQ(memory.status().state, MoveState::kIdle);
  memory.SetTarget(1002 * kMiB);
  EXPECT_NE(At(memory, 0, 0), std::nullopt);
  LimitMover small = Memory(kMiB);
  small.SetTarget(kMiB + 4096);
  EXPECT_EQ(At(small, 0, 0), std::nullopt);
}

TEST(LimitMover, RoundingOfTheKernelIsNotUndone) {
  LimitMover mover = Cpu(1.0);
  mover.SetTarget(0.333);
  EXPECT_NE(At(mover, 0, 0), std::nullopt);
  mover.Wrote(0.333, 0);
  mover.SetCurrent(0.33);
  EXPECT_EQ(At(mover, 0, 1), std::nullopt);
  EXPECT_EQ(mover.status().state, MoveState::kIdle);
  mover.SetCurrent(0.3);  // another program's value
  EXPECT_EQ(At(mover, 0, 2), Write(0.333));
  mover.SetCurrent(0.33);  // another program wrote this value, so it is not a rounding of 0.333
  EXPECT_EQ(At(mover, 0, 2), Write(0.333));
}

TEST(LimitMover, RefusalsAreTriedAgainWithPatience) {
  MoverOptions options;
  options.max_backoff_us = 7 * kSecond;
  LimitMover mover = Memory(1000 * kMiB, options);
  mover.SetTarget(900 * kMiB);
  EXPECT_NE(At(mover, 0, 0), std::nullopt);
  mover.Refused(0);
  EXPECT_EQ(mover.status().state, MoveState::kRefused);
  EXPECT_EQ(mover.Sentence(), "refused 1 time; retry after 2 s");
  int64_t now = 0;
  for (const int64_t wait : {2, 4, 7, 7}) {
    EXPECT_EQ(At(mover, 0, now + wait - 1), std::nullopt) << wait;
    now += wait;
    EXPECT_EQ(At(mover, 0, now), Write(900 * kMiB)) << wait;
    EXPECT_EQ(mover.status().state, MoveState::kRefused);
    mover.Refused(now * kSecond);
  }
  mover.SetTarget(900 * kMiB);  // the same order does not cause another attempt
  EXPECT_EQ(At(mover, 0, now + 1), std::nullopt);
  mover.SetTarget(880 * kMiB);
  EXPECT_EQ(At(mover, 0, now + 1), Write(880 * kMiB));
  mover.Wrote(880 * kMiB, now * kSecond);
  mover.SetTarget(860 * kMiB);
  EXPECT_NE(At(mover, 0, now + 2), std::nullopt);
  mover.Refused((now + 2) * kSecond);
  EXPECT_EQ(mover.Sentence(), "refused 1 time; retry after 2 s");  // the count begins again
}

TEST(LimitMover, SomebodyElseInTheMiddle) {
  LimitMover mover = Memory(1000 * kMiB);
  mover.SetTarget(500 * kMiB);
  mover.Wrote(*At(mover, 0, 0), 0);
  mover.SetCurrent(200 * kMiB);
  EXPECT_EQ(At(mover, 0, 0), Write(500 * kMiB));  // a raise needs no steps
  mover.SetCurrent(2000 * kMiB);
  EXPECT_EQ(At(mover, 0, 1), Write(1600 * kMiB));
  mover.SetCurrent(std::nullopt);
  EXPECT_EQ(At(mover, 0, 1), Write(500 * kMiB));
  mover.SetCurrent(500 * kMiB);
  EXPECT_EQ(At(mover, 0, 1), std::nullopt);
  EXPECT_EQ(mover.status().state, MoveState::kIdle);
}

TEST(LimitMover, OomRaisesAtOnceAndIsAFloor) {
  LimitMover mover = Memory(1000 * kMiB);
  mover.SetTarget(1000 * kMiB);
  EXPECT_EQ(mover.OnOom(std::nullopt, std::nullopt, 5000), 1200 * kMiB);
  EXPECT_EQ(mover.target(), 1200 * kMiB);
  mover.Wrote(1200 * kMiB, 0);
  EXPECT_EQ(mover.status().state, MoveState::kIdle);
  EXPECT_FALSE(mover.MayFollow(4999));
  EXPECT_TRUE(mover.MayFollow(5000));
  mover.SetTarget(1000 * kMiB, 4999);
  EXPECT_EQ(At(mover, 0, 100), std::nullopt);
  EXPECT_EQ(mover.status().state, MoveState::kHeld);
  EXPECT_EQ(mover.Sentence(), "raised to 1.17 GiB after an OOM kill; waiting for an order decided after it");
  mover.SetTarget(1100 * kMiB, 5000);
  EXPECT_EQ(At(mover, 0, 100), Write(1100 * kMiB));
  EXPECT_FALSE(mover.MayFollow(4999));
}

TEST(LimitMover, AnOrderOfBeforeARaiseForGrowthIsNotSaidToBeOfBeforeAKill) {
  LimitMover mover = Memory(1000 * kMiB);
  mover.SetTarget(1000 * kMiB);
  ASSERT_TRUE(mover.OnGrowth(std::nullopt, 5000).has_value());
  EXPECT_FALSE(mover.MayFollow(4999));
  EXPECT_EQ(mover.WhyNotFollowed(), "decided before the limit was raised for usage that grows");
  mover.Wrote(1200 * kMiB, 0);
  mover.SetTarget(1000 * kMiB, 4999);
  EXPECT_EQ(At(mover, 0, 100), std::nullopt);
  EXPECT_EQ(mover.Sentence(),
            "raised to 1.17 GiB for usage that grows; waiting for an order decided after it");
  ASSERT_TRUE(mover.OnOom(std::nullopt, std::nullopt, 5100).has_value());
  EXPECT_EQ(mover.WhyNotFollowed(), "decided before the OOM kill after which the limit was raised");
}

TEST(LimitMover, OomBounds) {
  LimitMover small = Memory(100 * kMiB);
  EXPECT_EQ(small.OnOom(std::nullopt, 1000 * kMiB, 1), 200 * kMiB);
  LimitMover bounded = Memory(100 * kMiB);
  EXPECT_EQ(bounded.OnOom(std::nullopt, 150 * kMiB, 1), 150 * kMiB);
  bounded.Wrote(150 * kMiB, 0);
  EXPECT_EQ(bounded.OnOom(std::nullopt, 150 * kMiB, 2), std::nullopt);
  EXPECT_FALSE(bounded.MayFollow(1));
  LimitMover none = Memory(std::nullopt);
  EXPECT_EQ(none.OnOom(std::nullopt, std::nullopt, 1), std::nullopt);
  EXPECT_FALSE(none.target().has_value());
  EXPECT_TRUE(none.MayFollow(0));
}

TEST(LimitMover, OomInAStepDownStopsIt) {
  LimitMover mover = Memory(1000 * kMiB);
  mover.SetTarget(200 * kMiB);
  mover.Wrote(*At(mover, 0, 0), 0);
  EXPECT_EQ(mover.OnOom(std::nullopt, std::nullopt, 7), 960 * kMiB);
  mover.Wrote(960 * kMiB, 1);
  EXPECT_EQ(At(mover, 0, 100), std::nullopt);
  // At the upper bound nothing is raised, but a kill still stops a decrease.
  LimitMover bounded = Memory(1000 * kMiB);
  bounded.SetTarget(200 * kMiB);
  EXPECT_EQ(bounded.OnOom(std::nullopt, 1000 * kMiB, 7), std::nullopt);
  EXPECT_EQ(At(bounded, 0, 100), std::nullopt);
  EXPECT_EQ(bounded.status().state, MoveState::kHeld);
}

TEST(LimitMover, OomAtALimitThatWasRaisedSince) {
  LimitMover mover = Memory(1000 * kMiB);
  mover.SetTarget(1000 * kMiB);
  EXPECT_EQ(mover.OnOom(300 * kMiB, std::nullopt, 7), std::nullopt);
  EXPECT_FALSE(mover.MayFollow(6));
  mover.SetTarget(200 * kMiB, 6);
  mover.Wrote(*At(mover, 0, 10), 10 * kSecond);
  for (int s = 11; s < 40; ++s) {
    if (const Write write = At(mover, 0, s)) mover.Wrote(*write, s * kSecond);
  }
  EXPECT_EQ(mover.current(), 400 * kMiB);
}

TEST(LimitMover, RefusedRaiseIsNotWrittenAtEveryKill) {
  LimitMover mover = Memory(100 * kMiB);
  EXPECT_EQ(mover.OnOom(std::nullopt, std::nullopt, 1), 200 * kMiB);
  mover.Refused(0);
  EXPECT_EQ(mover.OnOom(std::nullopt, std::nullopt, 2), std::nullopt);
  EXPECT_EQ(At(mover, 0, 1), std::nullopt);
  EXPECT_EQ(At(mover, 0, 2), Write(200 * kMiB));
}

TEST(LimitMover, ThrottlingRaisesAndHolds) {
  LimitMover mover = Cpu(1.0);
  mover.SetTarget(1.0);
  EXPECT_EQ(mover.OnThrottled(100, 1, std::nullopt, 0), std::nullopt);
  EXPECT_EQ(mover.OnThrottled(0, 0, std::nullopt, 0), std::nullopt);
  EXPECT_EQ(mover.OnThrottled(100, 2, std::nullopt, 0), 1.25);
  mover.Wrote(1.25, 0);
  EXPECT_TRUE(mover.MayFollow(0));
  mover.SetTarget(0.5);
  EXPECT_EQ(At(mover, 0, 3599), std::nullopt);
  EXPECT_EQ(mover.status().state, MoveState::kHeld);
  EXPECT_EQ(mover.Sentence(), "raised to 1.25 cores after throttling; lower orders wait");
  mover.SetTarget(2.0);
  EXPECT_EQ(At(mover, 0, 3599), Write(2.0));
  mover.SetTarget(0.5);
  EXPECT_EQ(At(mover, 0, 3600), Write(0.5));
}

TEST(LimitMover, ThrottlingAtTheUpperBoundHoldsToo) {
  LimitMover mover = Cpu(1.0);
  EXPECT_EQ(mover.OnThrottled(10, 10, 1.1, 0), 1.1);
  mover.Wrote(1.1, 0);
  EXPECT_EQ(mover.OnThrottled(10, 10, 1.1, 10 * kSecond), std::nullopt);
  mover.SetTarget(0.5);
  EXPECT_EQ(At(mover, 0, 3605), std::nullopt);  // the hold began again
  EXPECT_EQ(At(mover, 0, 3610), Write(0.5));
  EXPECT_EQ(Cpu(std::nullopt).OnThrottled(10, 10, std::nullopt, 0), std::nullopt);
}

TEST(LimitMover, RoundingOfTheKernelIsAllowedInWhole) {
  LimitMover mover = Cpu(1.0);
  mover.SetTarget(0.34);
  mover.Wrote(0.34, 0);
  mover.SetCurrent(0.33);  // 0.34 - 0.33 is a little more than 0.01
  EXPECT_EQ(At(mover, 0, 1), std::nullopt);
}

TEST(LimitMover, CutsWaitForTheStartAndRaisesDoNot) {
  LimitMover mover = Memory(100 * kMiB);
  mover.HoldCutsUntil(60 * kSecond);
  mover.SetTarget(90 * kMiB);
  EXPECT_EQ(At(mover, 0, 59), std::nullopt);
  EXPECT_EQ(mover.status().state, MoveState::kHeld);
  EXPECT_EQ(mover.status().obstacle, Obstacle::kStartup);
  mover.SetTarget(120 * kMiB);
  EXPECT_EQ(At(mover, 0, 59), Write(120 * kMiB));
  mover.SetTarget(90 * kMiB);
  EXPECT_EQ(At(mover, 0, 60), Write(90 * kMiB));
}

TEST(LimitMover, ARaiseIsInProgressAndAfterARefusalRefused) {
  LimitMover mover = Memory(100 * kMiB);
  mover.SetTarget(200 * kMiB);
  EXPECT_EQ(At(mover, 0, 0), Write(200 * kMiB));
  EXPECT_EQ(mover.status().state, MoveState::kStepping);
  mover.Refused(0);
  EXPECT_EQ(At(mover, 0, 2), Write(200 * kMiB));
  EXPECT_EQ(mover.status().state, MoveState::kRefused);
}

// The margin of a task with 100 MiB or more is 10 % plus 4 MiB; the margin of a smaller task is 14 %.
TEST(LimitMover, MarginOfASmallTask) {
  LimitMover mover = Memory(std::nullopt);
  mover.SetTarget(10 * kMiB);
  const Write small = At(mover, 50 * kMiB, 0);
  ASSERT_TRUE(small && *small);
  EXPECT_NEAR(**small / kMiB, 57, 1e-9);
  const Write large = At(mover, 1000 * kMiB, 0);
  ASSERT_TRUE(large && *large);
  EXPECT_NEAR(**large / kMiB, 1104, 1e-9);
}

TEST(LimitMover, StepsSmallerThanOnePercentArriveIfSoOrdered) {
  MoverOptions options;
  options.shrink_share = 0.005;
  LimitMover mover = Memory(1000 * kMiB, options);
  mover.SetTarget(500 * kMiB);
  EXPECT_EQ(At(mover, 0, 0), Write(1000 * kMiB * 0.995));
}

TEST(LimitMover, ASuccessEndsThePatience) {
  LimitMover mover = Memory(1000 * kMiB);
  mover.SetTarget(100 * kMiB);
  mover.Refused(0);
  mover.Refused(2 * kSecond);
  const Write step = At(mover, 0, 6);
  ASSERT_TRUE(step);
  mover.Wrote(*step, 6 * kSecond);
  mover.Refused(7 * kSecond);
  EXPECT_EQ(mover.Sentence(), "refused 1 time; retry after 2 s");
}

TEST(LimitMover, AFinalRefusalWaitsForAnotherOrderOrANewStart) {
  LimitMover mover = Memory(100 * kMiB);
  mover.SetTarget(200 * kMiB);
  mover.Refused(0, true);
  EXPECT_TRUE(mover.status().is_final);
  EXPECT_EQ(mover.Sentence(), "refused; not retried until another limit is ordered");
  EXPECT_EQ(At(mover, 0, 1'000'000), std::nullopt);
  mover.ForgetRefusals();
  EXPECT_EQ(At(mover, 0, 1'000'000), Write(200 * kMiB));
  mover.Refused(0, true);
  mover.SetTarget(210 * kMiB);
  EXPECT_EQ(At(mover, 0, 0), Write(210 * kMiB));
  mover.Refused(0);
  EXPECT_FALSE(mover.status().is_final);
}

TEST(LimitMover, AKillRaisesAtOnceAlsoBelowAnOrderThatIsNotInForce) {
  LimitMover mover = Memory(100 * kMiB);
  mover.SetTarget(1000 * kMiB);
  EXPECT_EQ(mover.OnOom(std::nullopt, std::nullopt, 1), 200 * kMiB);
  EXPECT_EQ(mover.target(), 1000 * kMiB);
}

TEST(LimitMover, AKillDoesNotWaitForTheRefusalOfALowerOrder) {
  LimitMover mover = Memory(100 * kMiB);
  mover.SetTarget(50 * kMiB);
  mover.Refused(0);
  EXPECT_EQ(mover.OnOom(std::nullopt, std::nullopt, 1), 200 * kMiB);
  EXPECT_EQ(At(mover, 0, 0), Write(200 * kMiB));
}

TEST(LimitMover, FloorOfThrottlingIsTheHighestOfOneHold) {
  LimitMover mover = Cpu(1.0);
  mover.SetTarget(0.1);
  mover.OnThrottled(10, 10, std::nullopt, 0);
  mover.SetCurrent(0.4);
  mover.OnThrottled(10, 10, std::nullopt, 10 * kSecond);  // raises to 0.5, below the floor
  mover.SetTarget(0.1);
  EXPECT_EQ(At(mover, 0, 11), Write(1.25));
  for (const int64_t later : {3610, 4000}) {  // the hold has just ended, or ended long ago
    LimitMover other = mover;
    other.OnThrottled(10, 10, std::nullopt, later * kSecond);
    other.SetTarget(0.1);
    EXPECT_EQ(At(other, 0, later + 1), Write(0.5)) << later;
  }
}

TEST(LimitMover, FloorsOfAKillOutliveARestart) {
  LimitMover before = Memory(1000 * kMiB);
  before.OnOom(std::nullopt, std::nullopt, 5000);
  const MoveFloors kept = before.floors(0);
  EXPECT_EQ(kept.oom, 1200 * kMiB);
  EXPECT_EQ(kept.oom_s, 5000);
  EXPECT_EQ(kept.throttle, std::nullopt);
  LimitMover after = Memory(1200 * kMiB);
  after.Restore(kept, 0);
  EXPECT_FALSE(after.MayFollow(4999));
  EXPECT_TRUE(after.MayFollow(5000));
  after.SetTarget(1000 * kMiB, 4999);
  EXPECT_EQ(At(after, 0, 0), std::nullopt);
  EXPECT_EQ(after.status().obstacle, Obstacle::kOomFloor);
}

TEST(LimitMover, HoldOfThrottlingGoesOnAfterARestart) {
  LimitMover before = Cpu(1.0);
  before.OnThrottled(10, 10, std::nullopt, 0);
  EXPECT_EQ(before.floors(3600 * kSecond).throttle, std::nullopt);
  EXPECT_EQ(before.floors(3600 * kSecond).throttle_left_us, 0);
  const MoveFloors kept = before.floors(3000 * kSecond);
  EXPECT_EQ(kept.throttle, 1.25);
  EXPECT_EQ(kept.throttle_left_us, 600 * kSecond);
  EXPECT_EQ(kept.oom, std::nullopt);
  EXPECT_EQ(kept.oom_s, std::nullopt);
  LimitMover after = Cpu(1.25);
  after.Restore(kept, 50 * kSecond);  // steady time restarted
  after.SetTarget(0.5);
  EXPECT_EQ(At(after, 0, 649), std::nullopt);
  EXPECT_EQ(after.status().obstacle, Obstacle::kThrottleFloor);
  EXPECT_EQ(At(after, 0, 650), Write(0.5));
}

TEST(LimitMover, AHoldWithoutTimeLeftIsNotRestored) {
  MoveFloors floors;
  floors.throttle = 1.25;
  LimitMover mover = Cpu(1.25);
  mover.Restore(floors, 0);
  EXPECT_EQ(mover.floors(-1).throttle, std::nullopt);
  floors.throttle_left_us = int64_t{100} * 3600 * kSecond;  // a longer hold is shortened to an hour
  mover.Restore(floors, 0);
  EXPECT_EQ(mover.floors(0).throttle_left_us, 3600 * kSecond);
  mover.Restore({}, 0);
  EXPECT_EQ(mover.floors(0).throttle, std::nullopt);
}

// A random event, which occurs at one point of the simulated time.
struct Event {
  int what = 0;
  double amount = 0;  // 0 .. 1
};
rc::Gen<std::vector<Event>> AnyEvents() {
  return rc::gen::container<std::vector<Event>>(rc::gen::map(
      rc::gen::pair(rc::gen::inRange(0, 24), rc::gen::inRange(0, 1000)), [](const std::pair<int, int>& p) {
        Event event;
        event.what = p.first;
        event.amount = p.second / 1000.0;
        return event;
      }));
}

RC_GTEST_PROP(LimitMover, MemoryNeverGoesBelowUsageNorBelowAKillsFloor, ()) {
  LimitMover mover = Memory(1024 * kMiB);
  double usage = 100 * kMiB;
  double floor = 0;
  int64_t now = 0;
  int64_t cell_s = 1'000'000;
  std::optional<int64_t> last_down_us;
  for (const Event& event : *AnyEvents()) {
    now += kSecond / 4;
    ++cell_s;
    if (event.what < 4) usage = event.amount * 2048 * kMiB;
    if ((event.what == 4 || event.what == 6) && mover.MayFollow(cell_s - 3)) floor = 0;
    if (event.what == 4) mover.SetTarget(event.amount * 4096 * kMiB, cell_s - 3);
    if (event.what == 5) {
      mover.SetTarget(event.amount * 4096 * kMiB);
      floor = 0;
    }
    if (event.what == 6) mover.SetTarget(std::nullopt, cell_s - 3);
    if (event.what == 7) mover.SetCurrent(event.amount * 2048 * kMiB);
    if (event.what == 8) mover.ClearTarget();
    if (event.what == 9) {
      const std::optional<double> before = mover.current();
      if (const auto raised = mover.OnOom(std::nullopt, 4096 * kMiB, cell_s)) {
        RC_ASSERT(*raised <= 4096 * kMiB);
        RC_ASSERT(*raised > *before);
        mover.Wrote(*raised, now);
        floor = std::max(floor, *raised);
      }
      cell_s += 10;  // a decision of "3 s ago" may be before or after the kill
    }
    const bool known = event.what != 10;
    const std::optional<double> before = mover.current();
    const Write write = mover.Next(known ? std::optional<double>(usage) : std::nullopt, usage, now);
    if (!write) continue;
    RC_ASSERT(mover.target().has_value());
    const bool down = write->has_value() && (!before || **write < *before);
    if (down) {
      RC_ASSERT(known);
      RC_ASSERT(**write >= Safe(usage) * (1 - 1e-12));
      if (before) RC_ASSERT(**write >= *before * 0.8 * (1 - 1e-12));
      RC_ASSERT(!last_down_us || now - *last_down_us >= kSecond);
      RC_ASSERT(**write >= floor * (1 - 1e-3));
    } else {
      RC_ASSERT(before.has_value());
      RC_ASSERT(*write == mover.target() || **write >= floor * (1 - 1e-12));
    }
    if (event.what == 11) {
      mover.Refused(now);
    } else {
      mover.Wrote(*write, now);
      if (down) last_down_us = now;
    }
  }
}

// An order is carried out in few writes, as far as usage allows, and then no further write occurs.
RC_GTEST_PROP(LimitMover, ArrivesInBoundedlyManyWrites, ()) {
  const double from = *rc::gen::inRange(1, 100'000) * kMiB;
  const double to = *rc::gen::inRange(1, 100'000) * kMiB;
  const double usage = *rc::gen::inRange(0, 100'000) * kMiB;
  const bool falls = *rc::gen::arbitrary<bool>();
  const int refused = *rc::gen::inRange(0, 4);
  LimitMover mover = Memory(from);
  mover.SetTarget(to);
  int writes = 0, refusals = 0;
  double now_usage = usage;
  for (int s = 0; s < 4000; ++s) {
    if (falls) now_usage = std::max(0.0, usage * (1 - s / 2000.0));
    const Write write = At(mover, now_usage, s);
    if (!write) continue;
    ++writes;
    if (refusals < refused) {
      ++refusals;
      mover.Refused(s * kSecond);
    } else {
      mover.Wrote(*write, s * kSecond);
    }
  }
  // Between any two limits, each step changes the limit by at least 1 %.
  RC_ASSERT(writes <= refused + 2 + static_cast<int>(std::log(std::max(1.0, from / to)) / -std::log(0.99)));
  const double there = falls ? to : std::max(to, std::min(from, Safe(usage)));
  if (to >= from) {
    RC_ASSERT(writes <= refused + 1);
    RC_ASSERT(std::abs(*mover.current() - to) <= 0.001 * to + 4096);
  } else {
    RC_ASSERT(*mover.current() >= there * (1 - 1e-3) - 4096);
    RC_ASSERT(*mover.current() <= std::max(there, Safe(now_usage)) * 1.0102 + 4096);
  }
  RC_ASSERT((mover.status().state == MoveState::kIdle) ==
            (std::abs(*mover.current() - to) <= 0.001 * to + 4096));
}

RC_GTEST_PROP(LimitMover, CpuFollowsAtOnceButForTheHold, ()) {
  LimitMover mover = Cpu(2.0);
  double floor = 0;
  int64_t hold_until = 0;
  int64_t now = 0;
  for (const Event& event : *AnyEvents()) {
    now += static_cast<int64_t>(event.amount * 1000) * kSecond;
    if (event.what < 8) mover.SetTarget(0.1 + event.amount * 8);
    if (event.what == 8) mover.SetCurrent(0.1 + event.amount);
    if (event.what == 9 || event.what == 10) {
      const auto raised = mover.OnThrottled(100, 50, 8.0, now);
      floor = std::max(now < hold_until ? floor : 0.0, std::min(8.0, *mover.current() * 1.25));
      hold_until = now + 3600 * kSecond;
      if (raised) {
        RC_ASSERT(*raised <= 8.0);
        mover.Wrote(*raised, now);
      }
    }
    if (const Write write = mover.Next(std::nullopt, std::nullopt, now)) mover.Wrote(*write, now);
    RC_ASSERT(mover.Next(std::nullopt, std::nullopt, now) == std::nullopt);
    if (!mover.target().has_value()) continue;
    const double goal = std::max(**mover.target(), now < hold_until ? floor : 0.0);
    RC_ASSERT(std::abs(*mover.current() - goal) <= 0.0021 * goal + 0.0101);
    RC_ASSERT((mover.status().state == MoveState::kHeld) ==
              (goal - **mover.target() > 0.001 * **mover.target()));
  }
}

TEST(LimitMover, AfterAKillUnderLessThanTheOwnersLimitTheOwnersComesFirst) {
  LimitMover mover(Resource::kMemory, MoverOptions());
  mover.SetCurrent(32 * kMiB);
  EXPECT_EQ(mover.OnOom(32 * kMiB, std::nullopt, 1, 512 * kMiB), 512 * kMiB);
  LimitMover bounded(Resource::kMemory, MoverOptions());
  bounded.SetCurrent(32 * kMiB);
  EXPECT_EQ(bounded.OnOom(32 * kMiB, 200 * kMiB, 1, 512 * kMiB), 200 * kMiB);
  LimitMover near(Resource::kMemory, MoverOptions());
  near.SetCurrent(450 * kMiB);
  EXPECT_EQ(near.OnOom(450 * kMiB, std::nullopt, 1, 512 * kMiB), 550 * kMiB) << "the raise itself is more";
  LimitMover owners(Resource::kMemory, MoverOptions());
  owners.SetCurrent(512 * kMiB);
  EXPECT_EQ(owners.OnOom(512 * kMiB, std::nullopt, 1, 512 * kMiB), 614.4 * kMiB);
}

}  // namespace
}  // namespace taut::node
