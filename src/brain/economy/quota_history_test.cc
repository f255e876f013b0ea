#include "brain/economy/quota_history.h"

#include "common/base/byte_units.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using ::testing::HasSubstr;

const QuotaPlace kShopCpu{"shop", "prod", "cpu"};

// Returns a row of 10 cores that may use `maximum` millicores.
QuotaRowView RowWithMost(int64_t maximum) {
  QuotaRowView row;
  row.group = "shop";
  row.tier = "prod";
  row.resource = "cpu";
  row.cell.quota = 10'000;
  row.maximum = maximum;
  return row;
}

// Returns 100 hours: 4 cores are in use in 95 hours, 8 cores in 5 hours. The real usage is 3 cores.
QuotaHistory HundredHours() {
  QuotaHistory history;
  for (int64_t h = 0; h < 100; ++h) history.Note(kShopCpu, h * 3600, h % 20 == 7 ? 8040 : 4010, 3000);
  return history;
}

TEST(QuotaHistory, WhatCanBeBorrowedNeedsNoQuota) {
  const QuotaAdvice advice = *HundredHours().AdviceFor(RowWithMost(100'000));
  EXPECT_EQ(advice.hours, 100);
  EXPECT_EQ(advice.in_use_p95, 4010);
  EXPECT_EQ(advice.in_use_peak, 8040);
  EXPECT_EQ(advice.usage_peak, 3000);
  EXPECT_EQ(advice.recommended, 4100) << "rounded up to 0.1 cores";
  EXPECT_EQ(advice.reason,
            "In 95 % of 100 hours at most 4.01 cores were in use, at the peak 8.04 cores; jobs really used "
            "at most 3 cores. The quota is for these hours; in the others the group can borrow.");
}

TEST(QuotaHistory, ThePeakFitsWithoutBorrowing) {
  EXPECT_EQ(HundredHours().AdviceFor(RowWithMost(10'000))->recommended, 8100);
  const QuotaAdvice some = *HundredHours().AdviceFor(RowWithMost(11'000));
  EXPECT_EQ(some.recommended, 7100) << "and with what little can be borrowed";
  EXPECT_THAT(some.reason, HasSubstr("of which the group can borrow 1 core."));
}

TEST(QuotaHistory, TooFewHoursAndCohortsHaveNoRecommendation) {
  QuotaHistory history;
  EXPECT_FALSE(history.AdviceFor(RowWithMost(0)).has_value()) << "missing is absent";
  for (int64_t h = 0; h + 1 < QuotaHistory::kLeastHours; ++h)
    history.Note(kShopCpu, h * 3600, 5, std::nullopt);
  const QuotaAdvice advice = *history.AdviceFor(RowWithMost(10'000));
  EXPECT_FALSE(advice.recommended.has_value());
  EXPECT_FALSE(advice.usage_peak.has_value());
  EXPECT_THAT(advice.reason, HasSubstr("A quota is recommended after 48 hours."));
  QuotaRowView cohort = RowWithMost(10'000);
  cohort.cohort = true;
  EXPECT_FALSE(history.AdviceFor(cohort).has_value());
}

TEST(QuotaHistory, AnHourKeepsItsHighest) {
  QuotaHistory history;
  history.Note(kShopCpu, 7200, 5, 1);
  history.Note(kShopCpu, 7500, 9, 4);
  history.Note(kShopCpu, 7800, 7, std::nullopt);
  history.Note(kShopCpu, 3600, 99, 99);  // Note ignores this call, because the hour is earlier
  ASSERT_EQ(history.places().at(kShopCpu).size(), 1U);
  EXPECT_EQ(history.places().at(kShopCpu)[0], (QuotaHour{2, 9, 4}));
}

TEST(QuotaHistory, OldHoursAndThoseOfAWrongClockAreForgotten) {
  QuotaHistory history = HundredHours();
  history.Forget((QuotaHistory::kHours + 49) * 3600);
  EXPECT_EQ(history.places().at(kShopCpu).front().hour, 50);
  history.Forget(60 * 3600);
  EXPECT_EQ(history.places().at(kShopCpu).back().hour, 60);
  history.Forget(5000 * 3600);
  EXPECT_TRUE(history.places().empty());
}

TEST(QuotaHistory, MemoryIsRoundedToWhatPeopleWrite) {
  QuotaHistory history;
  for (int64_t h = 0; h < 60; ++h) history.Note({"shop", "prod", "memory"}, h * 3600, 1'000'000'000, 1);
  QuotaRowView row = RowWithMost(0);
  row.resource = "memory";
  EXPECT_EQ(history.AdviceFor(row)->recommended, static_cast<int64_t>(960 * kMiB));
}

TEST(QuotaHistory, RestoreTakesAscendingHoursOnly) {
  QuotaHistory history;
  EXPECT_FALSE(history.Restore(kShopCpu, {{5, 1, 1}, {5, 1, 1}}));
  EXPECT_FALSE(history.Restore(kShopCpu, {{5, -1, 1}}));
  EXPECT_TRUE(history.Restore(kShopCpu, {{5, 1, {}}, {6, 2, 1}}));
  EXPECT_EQ(history.places().at(kShopCpu).size(), 2U);
}

}  // namespace
}  // namespace taut::brain
