#include "node/agent/growth_watch.h"

#include <gtest/gtest.h>

namespace taut::node {
namespace {

constexpr int64_t kGrowthSecond = 1'000'000;

// Returns a watch that received one sample a second for `seconds`. Usage begins at `begin` and grows by `rate` a
// second.
GrowthWatch Grown(double begin, double rate, int seconds) {
  GrowthWatch watch;
  for (int i = 0; i <= seconds; ++i) watch.Note(begin + rate * i, i * kGrowthSecond, 30 * kGrowthSecond);
  return watch;
}

TEST(GrowthWatch, ALineReachesTheLimit) {
  EXPECT_EQ(Grown(100, 1, 59).Until(200), 41 * kGrowthSecond);
  EXPECT_EQ(Grown(100, 1, 75).Until(200), 25 * kGrowthSecond);
  EXPECT_EQ(Grown(100, 1, 75).Until(150), 0) << "it is there";
}

TEST(GrowthWatch, WhatIsShortOrSteadyReachesNothing) {
  EXPECT_EQ(Grown(100, 1, 29).Until(200), std::nullopt);
  EXPECT_EQ(Grown(100, 0, 200).Until(200), std::nullopt);
  EXPECT_EQ(Grown(100, -1, 90).Until(200), std::nullopt);
}

TEST(GrowthWatch, GrowthThatHasEndedIsNone) {
  GrowthWatch watch = Grown(100, 1, 60);
  for (int i = 61; i <= 130; ++i) watch.Note(160, i * kGrowthSecond, 30 * kGrowthSecond);
  EXPECT_EQ(watch.Until(200), std::nullopt);
}

TEST(GrowthWatch, AGapBeginsAnew) {
  GrowthWatch watch = Grown(100, 1, 60);
  watch.Note(170, 100 * kGrowthSecond, 30 * kGrowthSecond);
  EXPECT_EQ(watch.Until(200), std::nullopt);
  watch.Note(100, 50 * kGrowthSecond, 30 * kGrowthSecond);  // the clock was set back
  EXPECT_EQ(watch.Until(200), std::nullopt);
}

}  // namespace
}  // namespace taut::node
