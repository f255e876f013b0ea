#include "replicas/quarter_rises.h"

#include "gtest/gtest.h"

namespace taut {
namespace {

TEST(QuarterRises, CountsTheDaysThatRoseMore) {
  QuarterRises rises;
  // 12:00 to 12:15 has 10, 12:15 to 12:30 has 10 on even days and 15 on odd ones.
  for (int day = 0; day < 10; ++day) {
    for (int minute = 0; minute < 30; ++minute) {
      const double load = minute < 15 || day % 2 == 0 ? 10 : 15;
      rises.Observe(Timestamp::FromSeconds(day * kDaySeconds + 12 * 3600 + minute * 60), load);
    }
  }
  const auto at = Timestamp::FromSeconds(10 * kDaySeconds + 12 * 3600 + 16 * 60);
  const QuarterRises::Answer answer = rises.At(at);
  EXPECT_EQ(answer.days, 10);
  EXPECT_EQ(answer.above, 5);
  EXPECT_DOUBLE_EQ(answer.share, 0.4);
  // No quarter before, no rise: it is not known.
  EXPECT_EQ(rises.At(Timestamp::FromSeconds(10 * kDaySeconds + 12 * 3600)).days, 0);
  // Days that are long past do not count.
  EXPECT_EQ(rises.At(Timestamp::FromSeconds(30 * kDaySeconds + 12 * 3600 + 16 * 60)).days, 0);
}

}  // namespace
}  // namespace taut
