#include "server/kubernetes/watch/replica_spread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/kubernetes/watch/pod_fixture.h"

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Spread : public testing::Test {
 protected:
  // Adds `windows` windows in which db-0 uses these amounts, and the other replicas 100 MiB and 0.2 cores.
  void Run(int windows, double cores, double mebibytes) {
    for (int i = 0; i < windows; ++i) {
      spread_.Observe("db", {{"db-0", {cores, mebibytes * kMebibyte}},
                             {"db-1", {0.2, 100 * kMebibyte}},
                             {"db-2", {0.2, 100 * kMebibyte}}});
      spread_.EndWindow();
    }
  }
  ReplicaSpread spread_;
};

TEST_F(Spread, APrimaryThatUsesFourTimesAsMuchIsSaidOnce) {
  Run(ReplicaSpread::kFewestWindows - 1, 0.2, 400);
  EXPECT_EQ(spread_.HintOf("db"), "");
  Run(1, 0.2, 400);
  EXPECT_EQ(spread_.HintOf("db"),
            "Its replicas differ: on average of the last hours db-0 uses 400Mi of memory and db-1 100Mi. All "
            "of them "
            "get what the largest one needs; the annotation tautline.dev/split: ordinal of the StatefulSet "
            "gives each "
            "its own");
  EXPECT_THAT(spread_.TakeNew(), ElementsAre("db"));
  Run(10, 0.9, 400);
  EXPECT_THAT(spread_.TakeNew(), IsEmpty());
  EXPECT_EQ(spread_.HintOf("other"), "");
}

TEST_F(Spread, ItStandsUntilTheyAreCloser) {
  Run(200, 0.2, 400);
  Run(800, 0.2, 220);  // a difference of more than 100 MiB, a factor of 2.2
  EXPECT_NE(spread_.HintOf("db"), "");
  (void)spread_.TakeNew();
  Run(800, 0.2, 130);
  EXPECT_EQ(spread_.HintOf("db"), "");
  EXPECT_THAT(spread_.TakeNew(), IsEmpty());
}

TEST_F(Spread, SmallOrShortDifferencesAreNone) {
  Run(500, 0.25, 190);
  EXPECT_EQ(spread_.HintOf("db"), "") << "less than twice";
  for (int i = 0; i < 500; ++i) {
    spread_.Observe("tiny", {{"a-0", {0.01, 10 * kMebibyte}}, {"a-1", {0.05, 90 * kMebibyte}}});
    spread_.EndWindow();
  }
  EXPECT_EQ(spread_.HintOf("tiny"), "") << "ten times, of nearly nothing";
  Run(20, 5, 4000);
  Run(400, 0.2, 100);
  EXPECT_EQ(spread_.HintOf("db"), "") << "an hour of a backup";
}

TEST_F(Spread, WhatIsGoneIsForgotten) {
  Run(200, 0.2, 400);
  EXPECT_NE(spread_.HintOf("db"), "");
  spread_.EndWindow();
  EXPECT_EQ(spread_.HintOf("db"), "");
  Run(200, 0.2, 400);
  spread_.Observe("db", {{"db-1", {0.2, 100 * kMebibyte}}, {"db-2", {0.2, 100 * kMebibyte}}});
  EXPECT_EQ(spread_.HintOf("db"), "") << "the primary is no more";
  spread_.Observe("one", {{"one-0", {9, 9}}});
  EXPECT_EQ(spread_.HintOf("one"), "");
}

TEST(ReplicaSpreadAlone, WithoutAClusterTheHintSaysWhatASplitNeeds) {
  ReplicaSpread spread(ReplicaSpread::Splits::kNever);
  for (int w = 0; w < ReplicaSpread::kFewestWindows; ++w) {
    std::vector<ReplicaUse> uses(2);
    uses[0].pod = "db-0";
    uses[0].used.memory = 8e9;
    uses[1].pod = "db-1";
    uses[1].used.memory = 2e8;
    spread.Observe("shop/statefulset/db/app", uses);
  }
  EXPECT_THAT(spread.HintOf("shop/statefulset/db/app"),
              testing::HasSubstr("where tautd watches the cluster (kubernetes.kubeconfig), the annotation "));
}

}  // namespace
}  // namespace taut::server
