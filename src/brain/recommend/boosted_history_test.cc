#include "brain/recommend/boosted_history.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "brain/recommend/job_days_ring.h"

namespace taut::brain {
namespace {

// Returns the feature with this name.
float FeatureOf(const BoostedFeatures& features, std::string_view name) {
  for (size_t i = 0; i < features.size(); ++i) {
    if (BoostedFeatureNames()[i] == name) return features[i];
  }
  ADD_FAILURE() << "no feature " << name;
  return 0;
}

// A job that uses 1 core, and 4 cores in hour 9 of each day.
BoostedHistory DailyBurst(int days) {
  BoostedHistory history;
  for (int hour = 0; hour < 24 * days; ++hour) {
    for (int w = 0; w < 12; ++w) {
      const float used = hour % 24 == 9 ? 4 : 1;
      history.Add({.hour = hour, .peak = used, .mean = used, .other = 100, .owner_limit = 8});
    }
  }
  return history;
}

BoostedFeatures FeaturesAt(const BoostedHistory& history, int32_t hour, int period) {
  return history.Features(hour, period, *history.WeekPeak(hour), Resource::kCpu);
}

TEST(BoostedHistory, FeaturesDescribeTheHoursBeforeADecision) {
  const BoostedHistory history = DailyBurst(20);
  const int32_t hour = 20 * 24;
  EXPECT_NEAR(*history.WeekPeak(hour), 4, 0.02);
  EXPECT_NEAR(history.HighestPeak(hour), 4, 0.02);
  EXPECT_NEAR(*history.DayMean(hour), (23.0 + 4) / 24, 0.01);
  EXPECT_EQ(history.owner_limit(), 8);
  EXPECT_EQ(history.CountDays(hour, 3).measured, 20);
  EXPECT_EQ(history.CountDays(hour, 3).above, 20);
  EXPECT_EQ(history.CountDays(hour, 4).above, 0);
  const BoostedFeatures f = FeaturesAt(history, hour, 3);
  const double level = AnalogLevel(Resource::kCpu);
  const auto relative = [&](double v) { return std::log(v + level) - std::log(4 + level); };
  EXPECT_NEAR(FeatureOf(f, "peak of 1 hour"), relative(1), 0.01);
  EXPECT_NEAR(FeatureOf(f, "peak of 1 day"), 0, 0.01);
  EXPECT_NEAR(FeatureOf(f, "mean of 6 hours"), relative(1), 0.01);
  EXPECT_NEAR(FeatureOf(f, "owner's limit"), relative(8), 0.01);
  EXPECT_EQ(FeatureOf(f, "hour of the day"), 0);
  EXPECT_EQ(FeatureOf(f, "hours since the week's peak"), 14);
  EXPECT_NEAR(FeatureOf(f, "busy hours of 7 days"), 7.0 / 168, 1e-6);
  EXPECT_NEAR(FeatureOf(f, "other resource, 1 hour"), 0, 0.01);
  EXPECT_NEAR(FeatureOf(f, "these hours yesterday"), relative(1), 0.01);
}

TEST(BoostedHistory, TheSameHoursOfEarlierDaysShowADailyBurst) {
  BoostedHistory history = DailyBurst(20);
  for (int hour = 20 * 24; hour < 20 * 24 + 8; ++hour) history.Add({.hour = hour, .peak = 1, .mean = 1});
  const BoostedFeatures before = FeaturesAt(history, 20 * 24 + 8, 3);
  for (const char* name :
       {"these hours yesterday", "these hours last week", "median of these hours in 7 days"})
    EXPECT_NEAR(FeatureOf(before, name), 0, 0.01) << name;
  const BoostedFeatures earlier = FeaturesAt(history, 20 * 24 + 5, 3);
  EXPECT_LT(FeatureOf(earlier, "these hours yesterday"), -1);
}

TEST(BoostedHistory, MissingHoursAreMissing) {
  BoostedHistory history;
  EXPECT_FALSE(history.WeekPeak(0).has_value());
  history.Add({.hour = 100, .peak = 2, .mean = 1});
  EXPECT_NEAR(*history.WeekPeak(101), 2, 0.01);
  const BoostedFeatures young = FeaturesAt(history, 101, 3);
  EXPECT_TRUE(std::isnan(FeatureOf(young, "these hours yesterday")));
  EXPECT_TRUE(std::isnan(FeatureOf(young, "owner's limit")));
  EXPECT_TRUE(std::isnan(FeatureOf(young, "other resource, 1 hour")));
  // After a gap of more than 28 days nothing is known of the hours before.
  history.Add({.hour = 100 + 29 * 24, .peak = 1, .mean = 1});
  EXPECT_NEAR(history.HighestPeak(101 + 29 * 24), 1, 0.01);
  EXPECT_FALSE(history.WeekPeak(101 + 40 * 24).has_value());
}

TEST(BoostedHistory, AnOomRaisesTheCurrentHour) {
  BoostedHistory history;
  history.Add({.hour = 5, .peak = 2, .mean = 1});
  history.Raise(3);
  EXPECT_NEAR(*history.WeekPeak(6), 3, 0.01);
  history.Add({.hour = 6, .peak = 1, .mean = 1});
  EXPECT_NEAR(*history.WeekPeak(7), 3, 0.02);
}

TEST(BoostedHistory, LoadsWhatItSaved) {
  const BoostedHistory history = DailyBurst(10);
  std::string bytes;
  ByteWriter out(&bytes);
  history.Save(out);
  BoostedHistory loaded;
  ByteReader in(bytes);
  ASSERT_TRUE(loaded.Load(in).ok());
  EXPECT_EQ(in.remaining(), 0);
  std::string again;
  ByteWriter out_again(&again);
  loaded.Save(out_again);
  EXPECT_EQ(again, bytes);
  ByteReader short_in(std::string_view(bytes).substr(0, bytes.size() - 1));
  EXPECT_FALSE(loaded.Load(short_in).ok());
  std::string odd = bytes;
  odd[0] = odd[1] = static_cast<char>(0xff);  // not a number
  ByteReader odd_in(odd);
  EXPECT_FALSE(loaded.Load(odd_in).ok());
}

}  // namespace
}  // namespace taut::brain
