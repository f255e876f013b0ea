// Tests the values that MemoryProbe reports for a window. Limits are computed from these values.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "node/agent/memory_probe.h"

namespace taut::node {
namespace {

constexpr int64_t kUsInSecond = 1'000'000;

// A task that has allocated all memory that it ever used, up to memory.high, and uses `working` bytes all the
// time.
struct Held {
  explicit Held(double usage_mib) : probe(ProbeOptions()) {
    reading.usage = usage_mib * kMiB;
    reading.stall_us = 0;
  }
  ProbeStep Second(double stall_us = 0) {
    now_us += kUsInSecond;
    *reading.stall_us += static_cast<uint64_t>(stall_us);
    return probe.Step(reading, now_us);
  }
  void Live(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      const double limit = probe.high().value_or(1e15);
      held = std::max(held, working);
      reading.usage = std::min(held, limit);
      held = *reading.usage;
      const double missing = std::max(0.0, working - limit) / working;
      (void)Second(1e6 * std::min(1.0, 5 * missing));
    }
  }
  std::optional<double> Window() { return Window(300); }
  std::optional<double> Window(int seconds) {
    Live(seconds);
    return probe.TakeMostNeeded(now_us);
  }
  MemoryProbe probe;
  ProbeReading reading;
  int64_t now_us = 1000 * kUsInSecond;
  double working = 1000 * kMiB, held = 0;
};

Held Settled(double working_mib = 1000) {
  Held p(0);
  p.working = working_mib * kMiB;
  p.held = 3 * p.working;
  for (int i = 0; i < 8; ++i) (void)p.Window();
  return p;
}

TEST(MostNeeded, IsTheLeastThatTheTaskRanWithinWhileLoweringMetNothing) {
  Held p(0);
  p.held = 3000 * kMiB;
  const std::optional<double> first = p.Window();
  ASSERT_TRUE(first.has_value());
  EXPECT_NEAR(*first, *p.probe.high(), 0.03 * *first);
  EXPECT_LT(*first, 0.7 * 3000 * kMiB);
  for (int i = 0; i < 3; ++i) (void)p.Window();
  EXPECT_NEAR(*p.Window(), 1000 * kMiB, 60 * kMiB) << "then it is what it touches";
}

TEST(MostNeeded, FollowsATaskThatGrowsInTheWindowInWhichItGrows) {
  for (const double to : {1500.0, 2500.0, 6000.0}) {
    Held p = Settled();
    p.Live(100);
    p.working = to * kMiB;
    const std::optional<double> needed = p.Window(200);
    EXPECT_GE(needed.value_or(1e15), 0.97 * p.working) << to;
    for (int i = 0; i < 3; ++i) EXPECT_GE(p.Window().value_or(1e15), 0.97 * p.working) << to << " " << i;
  }
}

TEST(MostNeeded, CountsABurstThatIsOverWithItsHighestUsage) {
  Held p = Settled();
  p.Live(60);
  p.working = 2200 * kMiB;
  p.Live(20);
  p.working = p.held = 1000 * kMiB;
  EXPECT_GE(p.Window(220).value_or(1e15), 2100 * kMiB);
  (void)p.Window();
  EXPECT_LT(p.Window().value_or(1e15), 1200 * kMiB) << "two windows later it is over";
}

TEST(MostNeeded, IsAbsentWhereItIsNotKnownForTheWholeWindow) {
  Held none(0);
  EXPECT_EQ(none.probe.TakeMostNeeded(none.now_us), std::nullopt) << "no step";
  Held small(0);
  small.working = 50 * kMiB;
  EXPECT_EQ(small.Window(), std::nullopt) << "below the minimum";
  small.working = 500 * kMiB;
  EXPECT_EQ(small.Window(3), std::nullopt) << "no interval yet";
  // No interval has confirmed these large raises.
  Held open = Settled();
  open.Live(100);
  for (int i = 0; i < 3; ++i) (void)open.Second(150'000);
  EXPECT_EQ(open.probe.TakeMostNeeded(open.now_us), std::nullopt);
  // The guard owned memory.high, and the probe did not read the task for a while.
  Held dropped = Settled();
  dropped.Live(100);
  dropped.probe.Drop();
  EXPECT_EQ(dropped.Window(), std::nullopt);
  EXPECT_NE(dropped.Window(), std::nullopt);
  // The task started again.
  Held restarted = Settled();
  restarted.reading.stall_us = 0;
  EXPECT_EQ(restarted.Window(), std::nullopt);
  // The task stalls at any limit.
  Held stalls = Settled();
  for (int i = 0; i < 30; ++i) (void)stalls.Second(300'000);
  EXPECT_EQ(stalls.probe.TakeMostNeeded(stalls.now_us), std::nullopt);
  EXPECT_EQ(stalls.Window(), std::nullopt) << "it rests";
}

// A change of memory.max, or readings that arrive too late, release the limit. Memory use after the release does
// not prove a need.
TEST(MostNeeded, IsCarriedOverAPauseForHalfAnHourAtMost) {
  Held p = Settled();
  const double before = *p.Window();
  p.reading.memory_max = 4000 * kMiB;
  p.held = 3000 * kMiB;
  EXPECT_NEAR(*p.Window(), before, 0.05 * before);
  EXPECT_NEAR(*p.Window(), before, 0.05 * before);
  // While the machine is short of memory, the probe lowers no limit: the task keeps its memory, and nothing
  // confirms the need.
  Held old = Settled();
  old.reading.memory_max = 4000 * kMiB;
  old.held = 3000 * kMiB;
  old.reading.may_tighten = false;
  EXPECT_NE(old.Window(), std::nullopt);
  for (int i = 0; i < 6; ++i) (void)old.Window();
  EXPECT_EQ(old.Window(), std::nullopt);
}

RC_GTEST_PROP(MostNeeded, IsNeverBelowWhatTheTaskTouchedSincePhasesBegan, ()) {
  Held p(0);
  p.working = *rc::gen::inRange(120, 2000) * kMiB;
  p.held = p.working * (1 + *rc::gen::inRange(0, 300) / 100.0);
  for (int i = 0; i < 20; ++i) {
    p.Live(*rc::gen::inRange(10, 200));
    const double before = p.working;
    if (*rc::gen::inRange(0, 3) == 0) p.working = *rc::gen::inRange(120, 4000) * kMiB;
    const std::optional<double> needed = p.Window(*rc::gen::inRange(60, 200));
    if (p.working >= before) RC_ASSERT(needed.value_or(1e15) >= 0.97 * p.working);
  }
}

}  // namespace
}  // namespace taut::node
