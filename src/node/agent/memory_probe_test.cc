// Tests the probe against figures of the published control law, and with tasks whose working set is known.
#include "node/agent/memory_probe.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

namespace taut::node {
namespace {

constexpr int64_t kProbeS = 1'000'000;
using Kind = ProbeStep::Kind;

double Page(double bytes) { return std::floor(bytes / 4096) * 4096; }

// A probe that a test steps once a second, with the stall time of that second.
struct Probed {
  explicit Probed(double usage_mib, ProbeOptions options = {}) : probe(options) {
    reading.usage = usage_mib * kMiB;
    reading.stall_us = 0;
  }
  ProbeStep Second(double stall_us = 0) {
    now_us += kProbeS;
    *reading.stall_us += static_cast<uint64_t>(stall_us);
    return probe.Step(reading, now_us);
  }
  // Runs `seconds` without a stall; returns the last step.
  ProbeStep Calm(int seconds) {
    ProbeStep step;
    for (int i = 0; i < seconds; ++i) step = Second();
    return step;
  }
  MemoryProbe probe;
  ProbeReading reading;
  int64_t now_us = 1000 * kProbeS;
};

TEST(MemoryProbe, BeginsAtTheUsageAndTakesOnePercentAnInterval) {
  Probed p(200);
  EXPECT_EQ(p.Second(), (ProbeStep{Kind::kSet, 200 * kMiB}));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(p.Second().kind, Kind::kNone) << i;
  EXPECT_EQ(p.Second(), (ProbeStep{Kind::kSet, Page(200 * kMiB * 0.99)}));
  const double limit = *p.probe.high();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(p.Second().kind, Kind::kNone) << i;
  EXPECT_EQ(p.Second(), (ProbeStep{Kind::kSet, Page(limit * 0.99)}));
}

// Formula of senpai.py. Up to the target: err = target / max(integral, 1), factor = -min((err / 10)^2 * 0.01,
// 0.01). Above the target: err = integral / target, factor = min((err / 20)^2 * 1, 1).
TEST(MemoryProbe, FollowsThePublishedFormula) {
  const struct {
    double stall_us, factor;
  } cases[] = {{0, -0.01},      {1, -0.01},        {1000, -0.01},  {2000, -0.0025},
               {5000, -0.0004}, {10'000, -1e-4},   {20'000, 0.01}, {50'000, 0.0625},
               {100'000, 0.25}, {150'000, 0.5625}, {200'000, 1},   {1'000'000, 1}};
  for (const auto& c : cases) {
    Probed p(1000);
    (void)p.Second();
    ProbeStep step = p.Second(c.stall_us);
    // Above the target a step is made at once, else at the end of the interval.
    if (c.factor < 0) {
      EXPECT_EQ(step.kind, Kind::kNone) << c.stall_us;
      step = p.Calm(5);
    }
    EXPECT_EQ(step, (ProbeStep{Kind::kSet, Page(1000 * kMiB * (1 + c.factor))})) << c.stall_us;
  }
}

TEST(MemoryProbe, StallsAddUpOverTheIntervalAndBeginAnewAfterEachStep) {
  Probed p(1000);
  (void)p.Second();
  EXPECT_EQ(p.Second(6000).kind, Kind::kNone);
  EXPECT_EQ(p.Second(6000), (ProbeStep{Kind::kSet, Page(1000 * kMiB * (1 + 0.06 * 0.06))}));
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(p.Second().kind, Kind::kNone) << "a whole interval after a step, " << i;
  EXPECT_LT(p.Second().high, 1000 * kMiB);
}

TEST(MemoryProbe, StaysWithinItsBoundsAndTheOwnersMemoryHigh) {
  Probed small(50);
  EXPECT_EQ(small.Calm(60).kind, Kind::kNone) << "below the minimum nothing is set";
  EXPECT_EQ(small.probe.high(), std::nullopt);
  Probed owned(300);
  owned.reading.high = 250 * kMiB;
  EXPECT_EQ(owned.Second().high, 250 * kMiB);
  EXPECT_EQ(owned.Second(1e6).kind, Kind::kNone) << "no higher than the owner's";
  EXPECT_EQ(owned.probe.high(), 250 * kMiB);
  Probed floor(101);
  (void)floor.Second();
  floor.Calm(60);
  EXPECT_EQ(floor.probe.high(), 100 * kMiB);
  EXPECT_EQ(floor.probe.needed(floor.now_us), 100 * kMiB) << "it needs no more";
  Probed lower(300);
  lower.reading.high = 60 * kMiB;
  EXPECT_EQ(lower.Calm(60).kind, Kind::kNone) << "the owner's is below the minimum";
}

TEST(MemoryProbe, WhatTheTaskNeedsIsKnownOnceLoweringMetResistance) {
  Probed p(200);
  (void)p.Second();
  (void)p.Calm(12);
  EXPECT_EQ(p.probe.needed(p.now_us), std::nullopt) << "it may be less";
  const double before = *p.probe.high();
  (void)p.Calm(6);
  const double last = *p.probe.high();
  ASSERT_LT(last, before);
  (void)p.Second(20'000);
  EXPECT_EQ(p.probe.needed(p.now_us), before) << "it ran within this, and not within less";
  // The probe finds a lower value when the task needs less.
  (void)p.Calm(120);
  EXPECT_LT(*p.probe.needed(p.now_us), 0.9 * before);
  EXPECT_EQ(p.probe.needed(p.now_us + 301 * kProbeS), std::nullopt) << "nobody has confirmed it";
}

TEST(MemoryProbe, AGapOrAMissingFigureMakesNoStep) {
  for (const int what : {0, 1, 2, 3}) {
    Probed p(200);
    (void)p.Second();
    (void)p.Calm(5);
    const ProbeReading whole = p.reading;
    constexpr uint64_t kStall = 5'000'000;
    if (what == 0) p.now_us += 100 * kProbeS;
    if (what == 1) p.now_us -= 10 * kProbeS;
    if (what < 2) *p.reading.stall_us += kStall;
    if (what == 2) p.reading.stall_us.reset();
    if (what == 3) p.reading.usage.reset();
    EXPECT_EQ(p.probe.Step(p.reading, p.now_us + kProbeS).kind, Kind::kNone) << what;
    p.now_us += kProbeS;
    if (what > 1) {
      p.reading = whole;
      *p.reading.stall_us += kStall;
      EXPECT_EQ(p.Second().kind, Kind::kNone) << "of a time that is not known";
    }
    for (int i = 0; i < 5; ++i) EXPECT_EQ(p.Second().kind, Kind::kNone) << what << " " << i;
    EXPECT_EQ(p.probe.high(), 200 * kMiB);
  }
}

TEST(MemoryProbe, ReadingsThatAlwaysComeTooLateReleaseTheLimit) {
  Probed p(200);
  (void)p.Second();
  for (const Kind kind : {Kind::kNone, Kind::kNone, Kind::kRelease, Kind::kNone}) {
    p.now_us += 10 * kProbeS;
    EXPECT_EQ(p.Second().kind, kind) << "the stalls between are not known";
  }
}

TEST(MemoryProbe, WithoutFiguresForLongTheLimitIsReleased) {
  Probed p(200);
  (void)p.Second();
  p.reading.stall_us.reset();
  bool is_released = false;
  for (int i = 0; i < 70; ++i) {
    p.now_us += kProbeS;
    is_released |= p.probe.Step(p.reading, p.now_us).kind == Kind::kRelease;
  }
  EXPECT_TRUE(is_released);
  EXPECT_EQ(p.probe.high(), std::nullopt);
}

TEST(MemoryProbe, AnotherMemoryMaxOrACounterThatGoesBackBeginsAnew) {
  for (const bool by_max : {true, false}) {
    Probed p(200);
    p.reading.memory_max = 512 * kMiB;
    (void)p.Second(1000);
    (void)p.Calm(12);
    (void)p.Second(50'000);
    ASSERT_TRUE(p.probe.needed(p.now_us).has_value());
    if (by_max) p.reading.memory_max = 256 * kMiB;
    if (!by_max) p.reading.stall_us = 0;
    EXPECT_EQ(p.Second().kind, Kind::kRelease);
    EXPECT_EQ(p.probe.high(), std::nullopt);
    EXPECT_EQ(p.probe.needed(p.now_us), std::nullopt);
    EXPECT_EQ(p.Second(), (ProbeStep{Kind::kSet, 200 * kMiB})) << "from what it uses then";
  }
}

TEST(MemoryProbe, PressureThatNoLimitEndsReleasesForAWhile) {
  Probed p(200);
  (void)p.Second();
  int raises = 0;
  ProbeStep step;
  while (step.kind != Kind::kRelease && raises < 100) {
    step = p.Second(300'000);
    raises += step.kind == Kind::kSet ? 1 : 0;
  }
  EXPECT_EQ(raises, 9);
  EXPECT_EQ(p.probe.high(), std::nullopt);
  EXPECT_EQ(p.probe.needed(p.now_us), std::nullopt) << "the limit was not the cause";
  EXPECT_EQ(p.Calm(599).kind, Kind::kNone);
  EXPECT_EQ(p.Second().kind, Kind::kSet);
}

TEST(MemoryProbe, WhileTheMachineIsShortItOnlyRaises) {
  Probed p(200);
  (void)p.Second();
  p.reading.may_tighten = false;
  (void)p.Calm(60);
  EXPECT_EQ(p.probe.high(), 200 * kMiB);
  EXPECT_EQ(p.Second(200'000).high, 400 * kMiB);
  Probed waits(200);
  waits.reading.may_tighten = false;
  EXPECT_EQ(waits.Calm(60).kind, Kind::kNone) << "nor does it begin";
}

// A task that has allocated `footprint` bytes and uses `working` bytes of them. Below `working` the task stalls,
// and stalls more with less memory.
RC_GTEST_PROP(MemoryProbe, FindsTheWorkingSetOfATask, ()) {
  const double working = *rc::gen::inRange(120, 2000) * kMiB;
  const double footprint = working * (1 + *rc::gen::inRange(0, 200) / 100.0);
  const int noise_us = *rc::gen::inRange(0, 100);  // stall time in microseconds per second
  Probed p(0);
  p.reading.usage = footprint;
  double lowest = footprint;
  for (int i = 0; i < 3000; ++i) {
    const double limit = p.probe.high().value_or(footprint);
    p.reading.usage = std::min(footprint, limit);
    const double missing = std::max(0.0, working - limit) / working;
    const ProbeStep step = p.Second(noise_us + 1e6 * std::min(1.0, 5 * missing));
    RC_ASSERT(step.kind != Kind::kRelease);
    if (p.probe.high().has_value()) lowest = std::min(lowest, *p.probe.high());
  }
  RC_ASSERT(lowest > 0.95 * working);
  const std::optional<double> needed = p.probe.needed(p.now_us);
  RC_ASSERT(needed.has_value());
  RC_ASSERT(*needed > 0.97 * working && *needed < 1.05 * working);
}

RC_GTEST_PROP(MemoryProbe, NeverBelowItsMinimumAndNeverTightensAboveTheTarget, ()) {
  ProbeOptions options;
  options.min_bytes = *rc::gen::inRange(1, 500) * kMiB;
  options.max_probe = *rc::gen::inRange(1, 50) / 100.0;
  Probed p(*rc::gen::inRange(1, 1000), options);
  for (int i = 0; i < 300; ++i) {
    const std::optional<double> before = p.probe.high();
    const int stall_us = *rc::gen::inRange(0, 3) == 0 ? *rc::gen::inRange(0, 300'000) : 0;
    p.reading.usage = std::max(1.0, *p.reading.usage * *rc::gen::inRange(90, 111) / 100.0);
    if (*rc::gen::inRange(0, 40) == 0) p.reading.memory_max = *rc::gen::inRange(1, 2000) * kMiB;
    if (*rc::gen::inRange(0, 40) == 0) p.now_us += *rc::gen::inRange(-20, 100) * kProbeS;
    p.reading.may_tighten = *rc::gen::inRange(0, 4) != 0;
    const ProbeStep step = p.Second(stall_us);
    if (step.kind == Kind::kSet) {
      RC_ASSERT(step.high >= options.min_bytes);
      RC_ASSERT(step.high == Page(step.high));
      RC_ASSERT(p.probe.high() == step.high);
      const bool tightens = before.has_value() && step.high < *before;
      RC_ASSERT(!tightens || p.reading.may_tighten);
      RC_ASSERT(!tightens || step.high >= Page(*before * (1 - options.max_probe)));
      RC_ASSERT(!tightens || stall_us <= options.target_us);
    }
    RC_ASSERT((step.kind == Kind::kRelease) <= before.has_value());
  }
}

}  // namespace
}  // namespace taut::node
