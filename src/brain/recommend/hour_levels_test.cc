#include "brain/recommend/hour_levels.h"

#include <string>

#include "gtest/gtest.h"

namespace taut::brain {
namespace {

constexpr int32_t kNow = 20'000 * 24;  // a midnight, in hours since 1970
constexpr int kLowLevel = 10, kHighLevel = 90;

// Returns `days` days until kNow with low usage, except in hour 8 of every `period`th day.
HourLevels Made(int days, int period) {
  HourLevels hours;
  for (int32_t hour = kNow - days * 24; hour < kNow; ++hour) {
    const int32_t before = (kNow + 8 - hour) / 24;
    hours.Add(hour, (kNow + 8 - hour) % 24 == 0 && before % period == 0 ? kHighLevel : kLowLevel);
  }
  return hours;
}

TEST(HourLevels, ForeseesABurstOfEachDay) {
  const HourLevels hours = Made(9, 1);
  const auto burst = hours.Foresee(kNow + 8, kLowLevel);
  ASSERT_TRUE(burst.has_value());
  EXPECT_EQ(burst->lowest, kHighLevel);
  EXPECT_EQ(burst->highest, kHighLevel);
  EXPECT_FALSE(burst->weekly);
  EXPECT_FALSE(hours.Foresee(kNow + 7, kLowLevel).has_value());
  EXPECT_FALSE(hours.Foresee(kNow + 9, kLowLevel).has_value());
  EXPECT_FALSE(hours.Foresee(kNow + 8, kHighLevel).has_value()) << "it is not above that";
  EXPECT_FALSE(Made(6, 1).Foresee(kNow + 8, kLowLevel).has_value()) << "6 days are too few";
}

TEST(HourLevels, ForeseesABurstOfTheSameWeekday) {
  const HourLevels hours = Made(15, 7);
  const auto burst = hours.Foresee(kNow + 8, kLowLevel);
  ASSERT_TRUE(burst.has_value());
  EXPECT_TRUE(burst->weekly);
  EXPECT_FALSE(hours.Foresee(kNow + 32, kLowLevel).has_value()) << "another weekday";
  EXPECT_FALSE(Made(13, 7).Foresee(kNow + 8, kLowLevel).has_value()) << "one week is too few";
}

TEST(HourLevels, AnHourKeepsItsHighestAndIsForgotten) {
  HourLevels hours;
  EXPECT_EQ(hours.At(kNow), -1);
  hours.Add(kNow, 5);
  hours.Add(kNow, 3);
  EXPECT_EQ(hours.At(kNow), 5);
  hours.Add(kNow + 2, 0);
  EXPECT_EQ(hours.At(kNow + 1), -1) << "not measured";
  EXPECT_EQ(hours.At(kNow + 2), 0);
  hours.Add(kNow - 1, 7);
  EXPECT_EQ(hours.At(kNow - 1), 7) << "a clock that was set back";
  hours.Add(kNow - HourLevels::kHours, 9);
  hours.Add(kNow + 2 + HourLevels::kHours, 1);
  for (int32_t hour = kNow - HourLevels::kHours; hour < kNow + 2 + HourLevels::kHours; ++hour)
    ASSERT_EQ(hours.At(hour), -1);
}

TEST(HourLevels, IsSavedAndDamageIsFound) {
  const HourLevels hours = Made(15, 1);
  std::string bytes;
  ByteWriter out(&bytes);
  hours.Save(out);
  HourLevels again;
  ByteReader in(bytes);
  ASSERT_TRUE(again.Load(100, in).ok());
  EXPECT_EQ(in.remaining(), 0U);
  for (int32_t hour = kNow - 400; hour <= kNow; ++hour) ASSERT_EQ(again.At(hour), hours.At(hour));
  ByteReader high(bytes);
  EXPECT_FALSE(again.Load(kHighLevel, high).ok()) << "there is no such level";
  ByteReader half(std::string_view(bytes).substr(0, 100));
  EXPECT_FALSE(again.Load(100, half).ok());
}

}  // namespace
}  // namespace taut::brain
