// Tests of weekly times: valid texts, and the beginnings and ends of windows.
#include "brain/rollout/maintenance.h"

#include "brain/rollout/gate_fixture.h"
#include "common/base/time.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

constexpr int64_t kHourS = 3600;

TEST(MaintenanceText, IsReadInAnyCaseAndToTheLastMinute) {
  EXPECT_EQ(MaintenanceText(*ParseMaintenance("SAT 9:09-19:59")), "Sat 09:09-19:59");
  EXPECT_EQ(MaintenanceText(*ParseMaintenance("Mon 22:00-00:00")), "Mon 22:00-00:00");
  EXPECT_EQ(MaintenanceText(*ParseMaintenance("Mon 00:00-24:00")), "Mon 00:00-24:00");
}

TEST(MaintenanceText, RefusesWhatIsNoTimeOfAWeek) {
  for (const char* text : {"Mon-Foo 01:00-02:00", "Foo-Mon 01:00-02:00", "1/:00-12:00", "a1:00-12:00",
                           "22:000-23:00", "122:00-23:00", "10:60-11:00", "10:75-11:00", "25:00-26:00",
                           "24:00-24:00", "22:00-24:01", "22:00-x", "x-22:00", "22:00"}) {
    EXPECT_FALSE(ParseMaintenance(text).ok()) << text;
  }
}

TEST(Maintenance, EndsAtItsEnd) {
  const std::vector<MaintenanceWindow> windows = *ParseMaintenance("Mon 10:00-11:00");
  EXPECT_FALSE(InMaintenance(windows, kMonday + 10 * kHourS - 1));
  EXPECT_TRUE(InMaintenance(windows, kMonday + 10 * kHourS));
  EXPECT_TRUE(InMaintenance(windows, kMonday + 11 * kHourS - 1));
  EXPECT_FALSE(InMaintenance(windows, kMonday + 11 * kHourS));
}

TEST(Maintenance, TheNextIsAfterNowUpToAWeekAhead) {
  const std::vector<MaintenanceWindow> windows = *ParseMaintenance("Mon 05:00-05:30");
  const int64_t begin = kMonday + 5 * kHourS;
  EXPECT_EQ(NextMaintenance(windows, begin - 1), begin);
  EXPECT_EQ(NextMaintenance(windows, begin), begin + 7 * kDaySeconds);
  EXPECT_EQ(NextMaintenance(windows, begin + kHourS), begin + 7 * kDaySeconds);
}

TEST(Maintenance, TheNextIsTheNearestOfSeveral) {
  EXPECT_EQ(NextMaintenance(*ParseMaintenance("Thu 05:00-06:00; Tue 05:00-06:00; Fri 05:00-06:00"), kMonday),
            kMonday + kDaySeconds + 5 * kHourS);
}

}  // namespace
}  // namespace taut::brain
