#include "brain/replicas/quarter_rises.h"

#include <string>

#include "gtest/gtest.h"

namespace taut::brain {
namespace {

// Observes a load of 10 from 12:00 to 12:15. From 12:15 to 12:30 the load is 10 on even days and 15 on odd days.
void ObserveDay(int day, int minutes, QuarterRises& rises) {
  for (int minute = 0; minute < minutes; ++minute) {
    const double load = minute < 15 || day % 2 == 0 ? 10 : 15;
    rises.Observe(Timestamp::FromSeconds(day * kDaySeconds + 12 * 3600 + minute * 60), load);
  }
}

TEST(QuarterRises, CountsTheDaysThatRoseMore) {
  QuarterRises rises;
  for (int day = 0; day < 10; ++day) ObserveDay(day, 30, rises);
  const auto at = Timestamp::FromSeconds(10 * kDaySeconds + 12 * 3600 + 16 * 60);
  const QuarterRises::Answer answer = rises.At(at);
  EXPECT_EQ(answer.days, 10);
  EXPECT_EQ(answer.above, 5);
  EXPECT_DOUBLE_EQ(answer.share, 0.4);
  // Without a previous quarter, the rise is unknown.
  EXPECT_EQ(rises.At(Timestamp::FromSeconds(10 * kDaySeconds + 12 * 3600)).days, 0);
  // Days outside the last kDays do not count.
  EXPECT_EQ(rises.At(Timestamp::FromSeconds(30 * kDaySeconds + 12 * 3600 + 16 * 60)).days, 0);
}

TEST(QuarterRises, DaysWithoutASampleAreUnknown) {
  QuarterRises rises;
  for (int day = 0; day < 20; ++day) ObserveDay(day, 30, rises);
  for (int hours : {12, 13}) rises.Observe(Timestamp::FromSeconds(22 * kDaySeconds + hours * 3600), 10);
  const QuarterRises::Answer answer =
      rises.At(Timestamp::FromSeconds(23 * kDaySeconds + 12 * 3600 + 16 * 60));
  EXPECT_EQ(answer.days, 10) << "10 to 19 of the thirteen before";
  EXPECT_EQ(answer.above, 5);
  // After a gap of less than a day, the last quarter with samples is not the previous quarter.
  rises.Observe(Timestamp::FromSeconds(22 * kDaySeconds + 15 * 3600 + 15 * 60), 30);
  EXPECT_EQ(rises.At(Timestamp::FromSeconds(23 * kDaySeconds + 15 * 3600 + 15 * 60)).days, 0);
}

TEST(QuarterRises, GoesOnFromACheckpointWithinAQuarter) {
  QuarterRises rises, again;
  for (int day = 0; day < 3; ++day) ObserveDay(day, 30, rises);
  ObserveDay(3, 10, rises);
  std::string bytes;
  ByteWriter out(&bytes);
  rises.Save(out);
  ByteReader in(bytes);
  StoredValues values(in);
  again.Load(values);
  ASSERT_TRUE(values.status("rises").ok());
  EXPECT_EQ(in.remaining(), 0U);
  for (QuarterRises* r : {&rises, &again}) {
    EXPECT_EQ(r->At(Timestamp::FromSeconds(3 * kDaySeconds + 12 * 3600 + 16 * 60)).days, 3);
    for (int minute = 10; minute < 30; ++minute)
      r->Observe(Timestamp::FromSeconds(3 * kDaySeconds + 12 * 3600 + minute * 60), minute < 15 ? 10 : 18);
    const QuarterRises::Answer answer = r->At(Timestamp::FromSeconds(4 * kDaySeconds + 12 * 3600 + 16 * 60));
    EXPECT_EQ(answer.days, 4);
    EXPECT_EQ(answer.above, 2);
  }
}

}  // namespace
}  // namespace taut::brain
