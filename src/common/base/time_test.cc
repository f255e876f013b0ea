// Tests that windows and days are half-open, also before the epoch.
#include "common/base/time.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace taut {
namespace {

RC_GTEST_PROP(Time, EveryInstantLiesInItsWindow, ()) {
  const auto us = *rc::gen::inRange<int64_t>(-400'000'000'000'000, 400'000'000'000'000);
  const WindowId window = WindowId::Of({us});
  const int64_t start_us = window.start_s() * kMicrosPerSecond;
  RC_ASSERT(start_us <= us);
  RC_ASSERT(us < window.next().start_s() * kMicrosPerSecond);
  RC_ASSERT(int64_t{window.day()} * kDaySeconds <= window.start_s());
  RC_ASSERT(window.start_s() < (int64_t{window.day()} + 1) * kDaySeconds);
  RC_ASSERT(Timestamp{us}.seconds() * kMicrosPerSecond <= us);
  RC_ASSERT(us < (Timestamp{us}.seconds() + 1) * kMicrosPerSecond);
}

TEST(Time, EdgesBelongToTheLaterWindow) {
  EXPECT_EQ(WindowId::Of(Timestamp::FromSeconds(0)).index, 0);
  EXPECT_EQ(WindowId::Of({-1}).index, -1);
  EXPECT_EQ(WindowId::Of(Timestamp::FromSeconds(299)).index, 0);
  EXPECT_EQ(WindowId::Of(Timestamp::FromSeconds(300)).index, 1);
  EXPECT_EQ(WindowId::Of(Timestamp::FromSeconds(-300)).index, -1);
  EXPECT_EQ(WindowId{287}.day(), 0);
  EXPECT_EQ(WindowId{288}.day(), 1);
  EXPECT_EQ(WindowId{-1}.day(), -1);
  EXPECT_EQ(WindowId{-288}.day(), -1);
  EXPECT_EQ(WindowId{-289}.day(), -2);
}

TEST(Time, FloorDivRoundsDown) {
  EXPECT_EQ(FloorDiv(7, 3), 2);
  EXPECT_EQ(FloorDiv(-7, 3), -3);
  EXPECT_EQ(FloorDiv(-6, 3), -2);
  EXPECT_EQ(FloorDiv(0, 3), 0);
}

TEST(Time, ConstantsAgree) {
  EXPECT_EQ(kWindowsPerDay * kWindowSeconds, kDaySeconds);
  EXPECT_EQ(kWindowsPerHour * 24, kWindowsPerDay);
}

}  // namespace
}  // namespace taut
