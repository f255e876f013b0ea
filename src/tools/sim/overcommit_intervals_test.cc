#include "tools/sim/overcommit_intervals.h"

#include <cmath>
#include <utility>

#include "gtest/gtest.h"

namespace taut::tools {
namespace {

// Returns two placements of `each` machines. Every machine has 100 predictions, half of the limit; every tenth
// machine has 50 of them below the peak.
OvercommitResult Result(size_t each) {
  OvercommitResult result;
  OvercommitResult::Row& row = result.rows.emplace_back();
  row.by_placement.resize(2);
  for (size_t m = 0; m < 2 * each; ++m) {
    row.by_machine.push_back({.predictions = 100,
                              .below = m % 10 == 0 ? 50U : 0U,
                              .predicted = m % 2 == 0 ? 400.0 : 600.0,
                              .limit = 1000});
  }
  return result;
}

TEST(OvercommitIntervals, IncludeTheMeanAndNarrowWithTheMachinesOfOnePlacement) {
  ScoreIntervals few, many;
  for (const auto& [each, out] : {std::pair{size_t{10}, &few}, std::pair{size_t{1000}, &many}}) {
    const OvercommitResult result = Result(each);
    EXPECT_EQ(IndependentMachines(result), each);
    *out = *IntervalsOf(result, result.rows[0]);
    EXPECT_LE(out->footprint.low, 0.5);
    EXPECT_GE(out->footprint.high, 0.5);
    EXPECT_LE(out->below_share.low, 0.05);
    EXPECT_GE(out->below_share.high, 0.05);
  }
  EXPECT_NEAR(many.footprint.high - many.footprint.low, 2 * 1.96 * 0.1 / std::sqrt(1000), 0.001);
  EXPECT_NEAR(few.footprint.high - few.footprint.low, 2 * 1.96 * 0.1 / std::sqrt(10), 0.02);
}

TEST(OvercommitIntervals, RecordedMachinesCountEachOnce) {
  OvercommitResult result = Result(50);
  result.of_recorded = true;
  result.rows[0].by_machine[3] = {};  // a machine without predictions
  EXPECT_EQ(IndependentMachines(result), 99U);
  EXPECT_TRUE(IntervalsOf(result, result.rows[0]).has_value());
}

TEST(OvercommitIntervals, AreAbsentForOneMachine) {
  OvercommitResult result = Result(1);
  result.rows[0].by_machine[1] = {};
  EXPECT_FALSE(IntervalsOf(result, result.rows[0]).has_value());
}

}  // namespace
}  // namespace taut::tools
