#include "brain/recommend/cut_usage.h"

#include <gtest/gtest.h>

namespace taut::brain {
namespace {

TEST(CutRun, ALaterPeakReplacesTheAssumedWork) {
  CutRun run;
  run.Add(/*limit=*/1, /*assumed_over=*/0.1);
  run.Add(/*limit=*/2, /*assumed_over=*/0.2);
  // The need of both windows was 4: 3 + 2 above the limits, of which 0.3 were counted.
  EXPECT_FLOAT_EQ(run.Correction(4), 4.7F);
  // The need began within the first window.
  EXPECT_FLOAT_EQ(run.Correction(4, 0.5F), 5 * 0.75F - 0.3F);
  // The need was lower than assumed.
  EXPECT_NEAR(run.Correction(1.55), 0.1 - 0.3, 1e-6);
}

TEST(CutRun, APeakBelowTheLimitsProvesNothing) {
  CutRun run;
  run.Add(2, 0.5);
  EXPECT_EQ(run.Correction(1.9), 0);
  EXPECT_EQ(run.Correction(2), 0);
}

}  // namespace
}  // namespace taut::brain
