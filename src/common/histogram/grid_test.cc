// Checks the properties of the grid for arbitrary doubles.
#include "common/histogram/grid.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

namespace taut {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Finds the bucket by a linear search, with comparisons only.
int NaiveBucket(const Grid& grid, double value) {
  int k = 0;
  while (k + 1 < grid.size() && value > grid.UpperBound(static_cast<Bucket>(k))) ++k;
  return k;
}

class GridLaws : public testing::TestWithParam<const Grid*> {};
INSTANTIATE_TEST_SUITE_P(Both, GridLaws, testing::Values(&Grid::Cpu(), &Grid::Memory()),
                         [](const auto& p) { return p.index == 0 ? "Cpu" : "Memory"; });

TEST_P(GridLaws, BoundsAscendByAtMostFivePercent) {
  const Grid& grid = *GetParam();
  for (int k = 1; k < grid.size(); ++k) {
    const double ratio = grid.UpperBound(static_cast<Bucket>(k)) / grid.LowerBound(static_cast<Bucket>(k));
    EXPECT_NEAR(ratio, std::exp2(1.0 / 16), 1e-14) << k;
  }
}

TEST_P(GridLaws, EveryBoundBelongsToItsBucketAndTheNextDoubleToTheNext) {
  const Grid& grid = *GetParam();
  for (int k = 0; k < grid.size(); ++k) {
    const double bound = grid.UpperBound(static_cast<Bucket>(k));
    EXPECT_EQ(grid.BucketOf(bound), k);
    EXPECT_EQ(grid.BucketOf(std::nextafter(bound, 0.0)), k);
    EXPECT_EQ(grid.BucketOf(std::nextafter(bound, kInfinity)), std::min(k + 1, grid.size() - 1));
  }
}

TEST_P(GridLaws, EdgesOfTheLookupTableAreFoundToo) {
  const Grid& grid = *GetParam();
  for (int octave = -1; octave < 26; ++octave) {
    for (int cell = 0; cell < 64; ++cell) {
      double v = std::ldexp((1.0 + cell / 64.0) * grid.UpperBound(0), octave);
      for (int i = 0; i < 4; ++i) v = std::nextafter(v, 0.0);
      for (int i = 0; i < 9; ++i, v = std::nextafter(v, kInfinity)) {
        ASSERT_EQ(grid.BucketOf(v), NaiveBucket(grid, v)) << std::hexfloat << v;
      }
    }
  }
}

TEST_P(GridLaws, WhatIsNoUsageLandsAtTheEnds) {
  const Grid& grid = *GetParam();
  for (const double v : {0.0, -0.0, -1.0, -kInfinity, std::numeric_limits<double>::denorm_min(),
                         std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(grid.BucketOf(v), 0) << v;
  }
  EXPECT_EQ(grid.BucketOf(kInfinity), grid.size() - 1);
  EXPECT_EQ(grid.BucketOf(std::numeric_limits<double>::max()), grid.size() - 1);
}

RC_GTEST_PROP(Grid, AnyBitPatternIsPlacedAsByComparison, (uint64_t bits)) {
  const double value = std::bit_cast<double>(bits);
  for (const Grid* grid : {&Grid::Cpu(), &Grid::Memory()}) {
    RC_ASSERT(int{grid->BucketOf(value)} == NaiveBucket(*grid, value));
  }
}

RC_GTEST_PROP(Grid, AnyValueInRangeIsPlacedAsByComparison, ()) {
  const double log2 = *rc::gen::inRange<int>(-20'000, 30'000) / 1000.0;
  const double nudge = 1.0 + *rc::gen::inRange<int>(-1000, 1000) * 1e-15;
  for (const Grid* grid : {&Grid::Cpu(), &Grid::Memory()}) {
    const double value = grid->UpperBound(0) * std::exp2(log2) * nudge;
    RC_ASSERT(int{grid->BucketOf(value)} == NaiveBucket(*grid, value));
  }
}

TEST(Grid, SpansWhatTheDesignAsks) {
  EXPECT_EQ(Grid::Cpu().size(), 321);
  EXPECT_DOUBLE_EQ(Grid::Cpu().UpperBound(0), 0.001);
  EXPECT_GE(Grid::Cpu().upper_bounds().back(), 1000.0);
  EXPECT_EQ(Grid::Memory().size(), 385);
  EXPECT_EQ(Grid::Memory().UpperBound(0), 1048576.0);
  EXPECT_EQ(Grid::Memory().upper_bounds().back(), 17592186044416.0);
  EXPECT_EQ(Grid::Memory().LowerBound(0), 0.0);
}

}  // namespace
}  // namespace taut
