#include "brain/fleet/past_limits.h"

#include <gtest/gtest.h>

namespace taut::brain {
namespace {

TEST(PastLimits, AKillIsChargedToTheLimitAtItsTime) {
  PastLimits past;
  past.Note(7, 1000, 32);
  past.NoteOutcome(7, Outcome::kApplied, 1003);
  EXPECT_EQ(past.LowestIn(990, 990, 100), 32);
  EXPECT_EQ(past.LowestIn(1000, 1000, 100), 32) << "while the order was on its way";
  EXPECT_EQ(past.LowestIn(1003, 1003, 100), 32) << "of the second in which it was applied";
  EXPECT_EQ(past.LowestIn(1004, 1004, 100), 100);
  EXPECT_EQ(past.LowestIn(900, 1200, 100), 32) << "a kill without a date";
}

TEST(PastLimits, ACutChargesTheLowerLimitOnlyOnceItIsOrdered) {
  PastLimits past;
  past.Note(7, 1000, 512);
  past.NoteSent(7, 1100);
  past.NoteOutcome(7, Outcome::kApplied, 1101);
  EXPECT_EQ(past.LowestIn(1050, 1050, 32), 512) << "decided of an older window, and not sent yet";
  EXPECT_EQ(past.LowestIn(1100, 1100, 32), 32);
  EXPECT_EQ(past.LowestIn(1200, 1200, 32), 32);
}

TEST(PastLimits, AnOrderWithoutOutcomeCountsAfterAWhileAndOneThatFailedOnceItIsApplied) {
  PastLimits past;
  past.Note(7, 1000, 32);
  EXPECT_EQ(past.LowestIn(1500, 1500, 100), 32);
  EXPECT_EQ(past.LowestIn(1601, 1601, 100), 100);
  past.NoteOutcome(7, Outcome::kFailed, 1500);
  EXPECT_EQ(past.LowestIn(1601, 1601, 100), 32) << "100 was never in force";
  EXPECT_EQ(past.LowestIn(9999, 9999, 100), 32) << "nor later";
  past.NoteOutcome(7, Outcome::kApplied, 2100);
  EXPECT_EQ(past.LowestIn(2101, 2101, 100), 100);
}

TEST(PastLimits, AnOrderThatWasReplacedBeforeItWasAppliedWasNeverInForce) {
  PastLimits past;
  past.Note(7, 1000, 32);
  past.Note(8, 1010, 100);
  past.NoteOutcome(7, Outcome::kSuperseded, 1010);
  EXPECT_EQ(past.LowestIn(1020, 1020, 300), 32) << "no task has had 100";
  past.NoteOutcome(8, Outcome::kFailed, 1030);
  EXPECT_EQ(past.LowestIn(5000, 5000, 300), 32) << "nor 300";
  past.Note(9, 6000, 300);
  past.NoteOutcome(9, Outcome::kApplied, 6005);
  EXPECT_EQ(past.LowestIn(6003, 6003, 400), 32);
  EXPECT_EQ(past.LowestIn(6006, 6006, 400), 400);
}

TEST(PastLimits, SeveralChangesAndNoLimit) {
  PastLimits past;
  past.Note(1, 1000, std::nullopt);
  past.NoteOutcome(1, Outcome::kApplied, 1001);
  past.Note(2, 2000, 32);
  past.NoteOutcome(2, Outcome::kApplied, 2001);
  past.NoteOutcome(9, Outcome::kApplied, 5);  // decision 9 is not in `past`
  EXPECT_EQ(past.LowestIn(500, 500, 100), std::nullopt);
  EXPECT_EQ(past.LowestIn(1001, 1001, 100), 32);
  EXPECT_EQ(past.LowestIn(1500, 1500, 100), 32);
  EXPECT_EQ(past.LowestIn(3000, 3000, 100), 100);
  EXPECT_EQ(past.LowestIn(3000, 3000, std::nullopt), std::nullopt);
  for (uint64_t id = 3; id < 30; ++id) past.Note(id, 3000, 100);
  EXPECT_EQ(past.size(), PastLimits::kKept);
  EXPECT_FALSE(past.Has(2));
  EXPECT_TRUE(past.Has(29));
}

}  // namespace
}  // namespace taut::brain
