#include "node/agent/throttle_control.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

namespace taut::node {
namespace {

constexpr int64_t kTwinSecond = 1'000'000;

// A task in memory: the share of its periods that are throttled rises linearly from 0, at a limit of `needs`
// cores, to 1 at a limit of 0.
class ThrottledTwin {
 public:
  explicit ThrottledTwin(double limit) : limit_(limit) {}

  double needs = 1, usage = 0.3;
  ThrottleBounds bounds{.target = 0.1, .low = 0.5, .high = 3};

  // Runs `seconds`, of 10 periods each.
  void Run(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      now_us_ += kTwinSecond;
      const double share = std::clamp((needs - limit_) / needs, 0.0, 1.0);
      owed_ += share * 10;
      const auto throttled = static_cast<uint64_t>(owed_);
      owed_ -= static_cast<double>(throttled);
      share_ = share;
      const auto next = control_.Step({10, throttled, usage}, limit_, bounds, now_us_);
      if (!next.has_value()) continue;
      ++writes_;
      limit_ = *next;
    }
  }
  double limit() const { return limit_; }
  double share() const { return share_; }
  int writes() const { return writes_; }
  const ThrottleControl& control() const { return control_; }

 private:
  ThrottleControl control_{ThrottleOptions{}};
  double limit_, share_ = 0, owed_ = 0;
  int64_t now_us_ = 0;
  int writes_ = 0;
};

TEST(ThrottleControl, AThrottledTaskIsRaisedWithinSecondsToItsTarget) {
  ThrottledTwin twin(0.5);
  twin.Run(15);
  EXPECT_GT(twin.limit(), 0.85);
  EXPECT_LE(twin.share(), 0.12);
}

TEST(ThrottleControl, AQuietTaskIsLoweredSlowlyToItsTarget) {
  ThrottledTwin twin(2);
  twin.Run(29);
  EXPECT_EQ(twin.limit(), 2) << "no cut before a quiet time";
  twin.Run(3);
  EXPECT_NEAR(twin.limit(), 1.9, 1e-9);
  twin.Run(3600);
  EXPECT_LT(twin.limit(), 1.05);
  EXPECT_GT(twin.limit(), 0.85);
  EXPECT_LE(twin.share(), 0.12);
}

TEST(ThrottleControl, ACutThatThrottlesIsRolledBackAndTheNextWaitsLonger) {
  ThrottleControl control{ThrottleOptions{}};
  const ThrottleBounds bounds{.target = 0.1, .low = 0.5, .high = 3};
  double limit = 1;
  int64_t now_us = 0;
  const auto step = [&](uint64_t throttled) {
    now_us += kTwinSecond;
    const auto next = control.Step({10, throttled, 0.1}, limit, bounds, now_us);
    limit = next.value_or(limit);
    return next.has_value();
  };
  int waited = 0;
  while (!step(0)) ++waited;
  EXPECT_NEAR(limit, 0.95, 1e-9);
  EXPECT_TRUE(step(4));
  EXPECT_EQ(limit, 1) << "the limit before the cut, at the first reading";
  EXPECT_EQ(control.quiet_us(), 60 * kTwinSecond);
  int waited_again = 0;
  while (!step(0)) ++waited_again;
  EXPECT_GE(waited_again, 59);
  EXPECT_GT(waited_again, waited);
  // This cut causes no throttling: the next one waits as at first.
  for (int i = 0; i < 12; ++i) EXPECT_FALSE(step(0));
  EXPECT_EQ(control.quiet_us(), 30 * kTwinSecond);
}

TEST(ThrottleControl, ACutStaysAboveTheHighestUsage) {
  ThrottledTwin twin(2);
  twin.needs = 0.1;  // never throttled
  twin.usage = 1.5;
  twin.Run(3600);
  EXPECT_NEAR(twin.limit(), 1.5 * 1.05, 0.02);
}

TEST(ThrottleControl, WithoutUsageOrPeriodsNothingIsLowered) {
  ThrottleControl control{ThrottleOptions{}};
  const ThrottleBounds bounds{.target = 0.1, .low = 0.5, .high = 3};
  for (int i = 1; i < 200; ++i) {
    EXPECT_EQ(control.Step({10, 0, std::nullopt}, 1, bounds, i * kTwinSecond), std::nullopt);
  }
  ThrottleControl idle{ThrottleOptions{}};
  for (int i = 1; i < 200; ++i) EXPECT_EQ(idle.Step({0, 0, 0.0}, 1, bounds, i * kTwinSecond), std::nullopt);
}

TEST(ThrottleControl, ALimitOfAnotherBeginsANewMeasurement) {
  ThrottledTwin twin(2);
  twin.Run(31);
  const ThrottleBounds bounds = twin.bounds;
  ThrottleControl control = twin.control();
  EXPECT_EQ(control.Step({10, 0, 0.1}, 1.2, bounds, 100 * kTwinSecond), std::nullopt);
  EXPECT_EQ(control.Step({10, 3, 0.1}, 1.2, bounds, 101 * kTwinSecond).has_value(), true);
}

RC_GTEST_PROP(ThrottleControl, TheLimitIsAlwaysWithinItsBounds, ()) {
  ThrottleControl control{ThrottleOptions{}};
  double limit = *rc::gen::inRange(1, 800) / 100.0;
  int64_t now_us = 0;
  const int steps = *rc::gen::inRange(1, 300);
  ThrottleBounds bounds{.target = 0.05, .low = 0.5, .high = 2};
  for (int i = 0; i < steps; ++i) {
    now_us += *rc::gen::inRange(0, 60) * kTwinSecond;
    if (*rc::gen::inRange(0, 20) == 0) {
      bounds.low = *rc::gen::inRange(1, 400) / 100.0;
      bounds.high = bounds.low + *rc::gen::inRange(0, 400) / 100.0;
    }
    const auto periods = static_cast<uint64_t>(*rc::gen::inRange(0, 100));
    const auto throttled = static_cast<uint64_t>(*rc::gen::inRange(0, 120));
    const auto next =
        control.Step({periods, throttled, *rc::gen::inRange(0, 300) / 100.0}, limit, bounds, now_us);
    if (!next.has_value()) continue;
    RC_ASSERT(*next >= bounds.low && *next <= bounds.high);
    RC_ASSERT(*next != limit);
    limit = *next;
  }
}

}  // namespace
}  // namespace taut::node
