// Tests which processes get their tier's oom_score_adj, and which value is restored for each process.
#include "node/agent/oom_scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace taut::node {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

ProcessReading Process(int pid, int value, int parent = 1) { return {{pid, 100}, parent, value}; }
ProcessId Id(int pid) { return {pid, 100}; }

TEST(OomScores, LowTiersGetAtLeastTheirsAndProductionAtMost) {
  OomScores batch(Tier::kBatch, 800), web(Tier::kProduction, -800);
  const std::vector<ProcessReading> fresh = {Process(7, 0), Process(8, 900), Process(9, -900),
                                             Process(10, 0)};
  EXPECT_THAT(batch.Take(fresh), ElementsAre(Id(7), Id(9), Id(10)));
  EXPECT_THAT(web.Take(fresh), ElementsAre(Id(7), Id(8), Id(10)));
  EXPECT_EQ(*batch.record(), (OomScoreRecord{800, 0, {{Id(9), -900}}}));
  EXPECT_EQ(*web.record(), (OomScoreRecord{-800, 0, {{Id(8), 900}}}));
  EXPECT_TRUE(batch.Knows(8));
}

TEST(OomScores, WhatIsInheritedIsNotTheOwners) {
  OomScores scores(Tier::kBatch, 800);
  scores.Take(std::vector{Process(7, 0), Process(8, -500)});
  // Process 9 was forked by process 8, process 10 by a process that has ended, and process 11 by process 9.
  EXPECT_THAT(scores.Take(std::vector{Process(9, 800, 8), Process(10, 800), Process(11, 800, 9)}), IsEmpty());
  EXPECT_EQ(scores.record()->OwnerOf(Id(9)), -500);
  EXPECT_EQ(scores.record()->OwnerOf(Id(10)), 0);
  EXPECT_EQ(scores.record()->OwnerOf(Id(11)), -500);
  EXPECT_EQ(scores.record()->OwnerOf({9, 101}), 0) << "another of that number";
}

TEST(OomScores, TheOwnersValueThatIsTheTiersStays) {
  OomScores scores(Tier::kBatch, 800);
  EXPECT_THAT(scores.Take(std::vector{Process(7, 800)}), IsEmpty());
  EXPECT_FALSE(scores.record().has_value());
  EXPECT_THAT(scores.Take(std::vector{Process(8, 0)}), ElementsAre(Id(8)));
  EXPECT_EQ(scores.record()->OwnerOf(Id(7)), 800);
}

TEST(OomScores, WhatIsGoneIsForgottenAndWhatLeftIsTold) {
  OomScores scores(Tier::kBatch, 800);
  scores.Take(std::vector{Process(7, 0), Process(8, 50), Process(9, 1000)});
  EXPECT_THAT(scores.Keep(std::vector{7}), ElementsAre(Pair(Id(8), 50)));
  EXPECT_TRUE(scores.record()->others.empty());
  EXPECT_FALSE(scores.Knows(9));
}

TEST(OomScores, AnEarlierStartsRecordIsKept) {
  OomScores scores(Tier::kBatch, 800);
  scores.Restore({800, 0, {{Id(8), -500}}});
  EXPECT_THAT(scores.Take(std::vector{Process(7, 800), Process(8, 800), Process(9, 10)}), ElementsAre(Id(9)));
  EXPECT_EQ(scores.record()->OwnerOf(Id(7)), 0);
  EXPECT_EQ(scores.record()->OwnerOf(Id(8)), -500);
  EXPECT_EQ(scores.record()->OwnerOf(Id(9)), 10);
}

}  // namespace
}  // namespace taut::node
