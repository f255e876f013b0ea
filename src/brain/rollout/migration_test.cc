#include "brain/rollout/migration.h"

#include "common/base/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kStart = 20'000 * kDaySeconds;  // 2024-10-04

class MigrationTest : public ::testing::Test {
 protected:
  MigrationTest() { settings_.enabled = true; }

  MigrationVerdict Day(bool over = false, double cores = 2) {
    ++day_;
    const MigrationFacts facts = {.now_s = kStart + day_ * kDaySeconds,
                                  .cpu_cores = cores,
                                  .memory_bytes = 4 * 1024 * kMiB,
                                  .over_today = over,
                                  .past = past_};
    return StepMigration(settings_, policy_, facts, state_);
  }
  void QuietDays(int n, double cores = 2) {
    for (int i = 0; i < n; ++i) EXPECT_EQ(Day(false, cores).step, MigrationStep::kNothing) << day_;
  }

  MigrationSettings settings_;
  JobPolicy policy_;
  MigrationState state_;
  int64_t day_ = 0;
  bool past_ = false;
};

TEST_F(MigrationTest, GivesNoticeAndMovesThreeDaysLater) {
  QuietDays(13);
  const MigrationVerdict notice = Day();
  EXPECT_EQ(notice.step, MigrationStep::kNotice);
  EXPECT_EQ(
      notice.sentence,
      "moves to auto in 3 days, 2024-10-21 00:00: on 0 of 14 days in observe usage was above the would-be "
      "limit, and its limits are 2.00 cores and 4.00 GiB over all tasks; set migrate to false to stay");
  QuietDays(2);
  const MigrationVerdict move = Day();
  EXPECT_EQ(move.step, MigrationStep::kMove);
  EXPECT_EQ(
      move.sentence,
      "moved to auto: on 0 of 17 days in observe usage was above the would-be limit; notice was given 3 days ago");
  EXPECT_TRUE(state_.moved);
  settings_.enabled = false;  // this setting stops further moves, but moved jobs stay moved
  QuietDays(30);
  EXPECT_TRUE(state_.moved);
  policy_.migrate = false;
  const MigrationVerdict back = Day();
  EXPECT_EQ(back.step, MigrationStep::kWithdraw);
  EXPECT_EQ(back.sentence, "back to observe: the owner opted out");
  EXPECT_FALSE(state_.moved);
}

// Days that were read from history count, but cause no notice, because the owner could not have objected.
TEST_F(MigrationTest, InThePastNobodyIsMovedOrToldOf) {
  past_ = true;
  QuietDays(30);
  EXPECT_EQ(state_.days, 30);
  past_ = false;
  EXPECT_EQ(Day().step, MigrationStep::kNotice);
  past_ = true;
  QuietDays(30);
  past_ = false;
  EXPECT_EQ(Day().step, MigrationStep::kMove);
}

TEST_F(MigrationTest, BadDaysWithdrawTheNotice) {
  QuietDays(13);
  EXPECT_EQ(Day().step, MigrationStep::kNotice);
  const MigrationVerdict v = Day(true);
  EXPECT_EQ(v.step, MigrationStep::kWithdraw);
  EXPECT_EQ(v.sentence, "stays in observe: on 1 of 15 days in observe usage was above the would-be limit");
  QuietDays(13);
  EXPECT_EQ(Day().step, MigrationStep::kNotice);
}

TEST_F(MigrationTest, TooManyBadDaysStartOver) {
  EXPECT_EQ(Day(true).step, MigrationStep::kNothing);
  QuietDays(13 + 13);
  EXPECT_EQ(Day().step, MigrationStep::kNotice);
}

// Bounds are closed: a share of days, or a size, equal to the bound is allowed.
TEST_F(MigrationTest, WhatComesExactlyToABoundIsAllowed) {
  settings_.max_days_over = 0.125;
  settings_.observe_days = 16;
  settings_.max_memory_bytes = 4 * 1024 * kMiB;
  EXPECT_EQ(Day(true).step, MigrationStep::kNothing);
  EXPECT_EQ(Day(true).step, MigrationStep::kNothing);
  QuietDays(13);
  EXPECT_EQ(Day().step, MigrationStep::kNotice) << "2 of 16 days";
  EXPECT_EQ(Day(true).step, MigrationStep::kWithdraw) << "3 of 17";
}

TEST_F(MigrationTest, LargeOrUnwillingOrOtherJobsStay) {
  QuietDays(40, 5);
  EXPECT_EQ(Day(false, 4).step, MigrationStep::kNotice);
  EXPECT_THAT(Day(false, 5).sentence, HasSubstr("it has 5.00 cores, more than 4.00 cores"));
  policy_.migrate = false;
  QuietDays(40);
  policy_.migrate = true;
  policy_.mode = Mode::kCanary;
  QuietDays(40);
  policy_.mode = Mode::kObserve;
  QuietDays(13);
  EXPECT_EQ(Day().step, MigrationStep::kNotice);
  policy_.mode = Mode::kAuto;
  EXPECT_EQ(Day().step, MigrationStep::kNothing);
  settings_.enabled = false;
  policy_.mode = Mode::kObserve;
  QuietDays(40);
}

TEST_F(MigrationTest, StateComesBackFromBytesOrIsRefused) {
  QuietDays(13);
  Day();
  std::string bytes;
  ByteWriter out(&bytes);
  state_.Save(out);
  MigrationState loaded;
  ByteReader in(bytes);
  ASSERT_TRUE(loaded.Load(in).ok());
  EXPECT_EQ(loaded.days, 14);
  EXPECT_EQ(loaded.notice_s, state_.notice_s);
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    ByteReader half(std::string_view(bytes).substr(0, cut));
    EXPECT_FALSE(loaded.Load(half).ok()) << cut;
  }
  EXPECT_FALSE(loaded.moved);
  bytes.back() = 2;
  ByteReader odd(bytes);
  EXPECT_FALSE(loaded.Load(odd).ok());
  bytes.back() = 1;
  ByteReader moved(bytes);
  ASSERT_TRUE(loaded.Load(moved).ok());
  EXPECT_TRUE(loaded.moved);
  state_.days = state_.days_over = 3;
  bytes.clear();
  state_.Save(out);
  ByteReader all_over(bytes);
  EXPECT_TRUE(loaded.Load(all_over).ok());
}

TEST_F(MigrationTest, ManyYearsOfDaysAreCountedNoFurther) {
  state_.days = UINT16_MAX - 1;
  past_ = true;
  QuietDays(3);
  EXPECT_EQ(state_.days, UINT16_MAX);
}

}  // namespace
}  // namespace taut::brain
