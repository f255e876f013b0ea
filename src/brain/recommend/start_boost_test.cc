#include "brain/recommend/start_boost.h"

#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace taut::brain {
namespace {

using ::testing::HasSubstr;

BoundSettings UpTo(double upper) {
  BoundSettings bounds;
  bounds.upper = upper;
  return bounds;
}

TEST(StartBoost, IsTheFactorUntilAStartWasSeen) {
  const auto boost = BoostFor({}, 0.5, 2, {});
  ASSERT_TRUE(boost.has_value());
  EXPECT_EQ(boost->cores, 1);
  EXPECT_EQ(boost->factor, 2);
  EXPECT_EQ(boost->starts, 0U);
  EXPECT_EQ(BoostFor({}, 0.5, std::nullopt, {}), std::nullopt);
  EXPECT_EQ(BoostFor({}, 0.5, 1, {}), std::nullopt);  // the boost would not exceed the limit in force
}

TEST(StartBoost, IsTheHighestOfTheLastStartsWithAMargin) {
  StartPeaks peaks;
  peaks.Add({0}, 2, 4);
  peaks.Add({10}, 3, 4);
  peaks.Add({20}, 1, 4);
  EXPECT_EQ(peaks.size(), 3U);
  const double margin = MarginSchedule::For(Resource::kCpu).At(3);
  const auto boost = BoostFor(peaks, 0.5, 2, {});
  ASSERT_TRUE(boost.has_value());
  EXPECT_NEAR(boost->cores, 3 * (1 + margin), 0.0011);
  EXPECT_GE(boost->cores, 3 * (1 + margin) - 1e-8);
  EXPECT_EQ(boost->highest->peak, 3);
  EXPECT_FALSE(boost->highest->cut);
  EXPECT_EQ(boost->starts, 3U);
}

TEST(StartBoost, OfAStartThatUsedLessThanTheLimitThereIsNone) {
  StartPeaks peaks;
  peaks.Add({0}, 0.3, 4);
  EXPECT_EQ(BoostFor(peaks, 0.5, 2, {}), std::nullopt);
}

TEST(StartBoost, GoesHigherWhereAStartWasAtItsLimit) {
  StartPeaks peaks;
  peaks.Add({0}, 0.96, 1);
  const auto boost = BoostFor(peaks, 0.5, 2, {});
  ASSERT_TRUE(boost.has_value());
  EXPECT_TRUE(boost->highest->cut);
  EXPECT_NEAR(boost->cores, 0.96 * StartPeaks::kCutFactor, 0.0011);
  StartPeaks below;
  below.Add({0}, 0.94, 1);
  EXPECT_FALSE(below.highest()->cut);
  StartPeaks unknown;
  unknown.Add({0}, 0.96, std::nullopt);
  EXPECT_FALSE(unknown.highest()->cut);
}

TEST(StartBoost, IsBoundedByTheOwnerByOthersAndByTheLimitInForce) {
  StartPeaks peaks;
  peaks.Add({0}, 40, std::nullopt);
  const auto ten_times = BoostFor(peaks, 0.5, 2, {});
  ASSERT_TRUE(ten_times.has_value());
  EXPECT_EQ(ten_times->cores, 5);
  EXPECT_THAT(ten_times->bounded_by, HasSubstr("10 times"));
  const auto owner = BoostFor(peaks, 0.5, 2, UpTo(3));
  ASSERT_TRUE(owner.has_value());
  EXPECT_EQ(owner->cores, 3);
  EXPECT_EQ(owner->bounded_by, "cpu.upper");
  BoundSettings node = UpTo(4);
  node.upper_by = "the largest node";
  EXPECT_EQ(BoostFor(peaks, 0.5, 2, node)->bounded_by, "the largest node");
  EXPECT_EQ(BoostFor(peaks, 0.5, 2, UpTo(0.5)), std::nullopt);
}

TEST(StartPeaks, WindowsInARowAreOneStartOfAnHourAtMost) {
  StartPeaks peaks;
  for (int32_t w = 0; w < 12; ++w) peaks.Add({w}, w == 3 ? 2 : 1, std::nullopt);
  EXPECT_EQ(peaks.size(), 1U);
  EXPECT_EQ(peaks.highest()->peak, 2);
  peaks.Add({12}, 1, std::nullopt);
  EXPECT_EQ(peaks.size(), 2U);
  peaks.Add({14}, 1, std::nullopt);  // another start, because no task started in window 13
  EXPECT_EQ(peaks.size(), 3U);
  peaks.Add({5}, 1, std::nullopt);  // the clock was set back
  EXPECT_EQ(peaks.size(), 4U);
}

TEST(StartPeaks, KeepsTheLastEight) {
  StartPeaks peaks;
  for (int32_t i = 0; i < 20; ++i) peaks.Add({10 * i}, 20 - i, std::nullopt);
  EXPECT_EQ(peaks.size(), StartPeaks::kMostStarts);
  EXPECT_EQ(peaks.highest()->peak, 8);
}

TEST(StartPeaks, ReadsBackWhatItSavedAndNothingElse) {
  StartPeaks peaks;
  peaks.Add({7}, 2, 2);
  peaks.Add({70}, 1.5, std::nullopt);
  std::string bytes;
  ByteWriter out(&bytes);
  peaks.Save(out);
  StartPeaks read;
  ByteReader in(bytes);
  ASSERT_TRUE(read.Load(in).ok());
  EXPECT_EQ(in.remaining(), 0U);
  EXPECT_EQ(read.size(), 2U);
  EXPECT_EQ(read.highest()->need, peaks.highest()->need);
  std::string again;
  ByteWriter more(&again);
  read.Save(more);
  EXPECT_EQ(again, bytes);
  for (size_t n = 0; n < bytes.size(); ++n) {
    ByteReader cut(std::string_view(bytes).substr(0, n));
    EXPECT_FALSE(read.Load(cut).ok()) << n;
    EXPECT_TRUE(read.empty());
  }
  peaks.Add({80}, std::numeric_limits<double>::infinity(), std::nullopt);
  EXPECT_EQ(peaks.size(), 2U);
}

TEST(StartBoost, SaysWhatItFollows) {
  Reason reason;
  reason.sentence = "It is so.";
  ExplainBoost(BoostFor({}, 0.5, 2, {}), 0.5, 300, "", reason);
  EXPECT_EQ(reason.sentence,
            "It is so. In the first 5m after its start a task gets 1.00 cores: 2 times 0.50 cores, as no "
            "start was seen yet (cpu.startup_window).");
  StartPeaks peaks;
  peaks.Add({0}, 2, 2);
  Reason cut;
  ExplainBoost(BoostFor(peaks, 0.5, 2, UpTo(2.5)), 0.5, 300, "", cut);
  EXPECT_EQ(cut.sentence,
            "In the first 5m after its start a task gets 2.50 cores: the last start used 2.00 cores, all "
            "that it was given, and gets 1.5 times as much; bounded: cpu.upper (cpu.startup_window).");
  peaks.Add({9}, 1, 2);
  Reason two;
  ExplainBoost(BoostFor(peaks, 0.5, 2, {}), 0.5, 300, "", two);
  EXPECT_THAT(two.sentence, HasSubstr("the highest of the last 2 starts used 2.00 cores"));
  Reason none;
  ExplainBoost(std::nullopt, 0.5, 60, "no limit is ordered", none);
  EXPECT_EQ(none.sentence,
            "In the first 1m after its start a task would get no more than 0.50 cores (cpu.startup_window; "
            "no limit is ordered).");
}

RC_GTEST_PROP(StartBoost, IsAboveTheLimitInForceAndWithinAllBounds, ()) {
  StartPeaks peaks;
  int32_t window = 0;
  for (int i = *rc::gen::inRange(0, 30); i > 0; --i) {
    window += *rc::gen::inRange(0, 20);
    const double peak = *rc::gen::inRange(0, 100'000) / 1000.0;
    peaks.Add({window}, peak, *rc::gen::arbitrary<bool>() ? std::optional(peak + 0.001) : std::nullopt);
  }
  RC_ASSERT(peaks.size() <= StartPeaks::kMostStarts);
  const double steady = *rc::gen::inRange(1, 20'000) / 1000.0;
  BoundSettings bounds;
  if (*rc::gen::arbitrary<bool>()) bounds.upper = *rc::gen::inRange(1, 50'000) / 1000.0;
  const double factor = *rc::gen::inRange(100, 1001) / 100.0;
  const auto boost = BoostFor(peaks, steady, factor, bounds);
  if (!boost.has_value()) return;
  RC_ASSERT(boost->cores > steady);
  RC_ASSERT(boost->cores <= steady * StartBoost::kMostFactor + 0.001);
  RC_ASSERT(!bounds.upper.has_value() || boost->cores <= *bounds.upper);
  // A higher usage of a start never lowers the need.
  StartPeaks more = peaks;
  more.Add({window + 5}, *rc::gen::inRange(0, 100'000) / 1000.0, std::nullopt);
  const auto next = BoostFor(more, steady, factor, bounds);
  if (!peaks.empty() && peaks.size() < StartPeaks::kMostStarts) {
    RC_ASSERT(next.has_value());
    RC_ASSERT(next->cores >= boost->cores);
  }
}

}  // namespace
}  // namespace taut::brain
