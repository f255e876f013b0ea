#include "common/boosting/train_forest.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "common/base/random.h"

namespace taut {
namespace {

const std::vector<float> kPoints = {-1.5, -0.5, 0.5, 1.5};

// Rows of outcomes that are uniform within 1 of the first feature; the second feature is noise.
BoostingRows RowsOf(size_t count) {
  BoostingRows rows;
  rows.features = 2;
  Rng rng(3);
  for (size_t i = 0; i < count; ++i) {
    const double center = rng.Uniform() < 0.5 ? -1 : 1, x = rng.Uniform(-2, 2);
    const bool is_missing = rng.Uniform() < 0.1;
    rows.cells.push_back(static_cast<float>(center));
    rows.cells.push_back(is_missing ? std::numeric_limits<float>::quiet_NaN()
                                    : static_cast<float>(rng.Normal()));
    rows.cells.push_back(static_cast<float>(x));
    rows.shares.push_back(center + rng.Uniform(-1, 1) > x ? 1 : 0);
  }
  return rows;
}

std::vector<float> ForecastOf(const BoostedForest& forest, float center) {
  const float features[] = {center, 0};
  std::vector<float> chances(kPoints.size());
  forest.Evaluate(features, chances);
  return chances;
}

TEST(TrainForest, LearnsADistributionForEachCase) {
  BoostingSettings settings;
  settings.trees = 60;
  const auto forest = TrainForest(RowsOf(8000), kPoints, settings, 1);
  ASSERT_TRUE(forest.ok()) << forest.status();
  EXPECT_EQ(forest->trees(), 60);
  // P(center + U(-1, 1) > x)
  const std::vector<float> low = ForecastOf(*forest, -1), high = ForecastOf(*forest, 1);
  const double expected_low[] = {0.75, 0.25, 0, 0}, expected_high[] = {1, 1, 0.75, 0.25};
  for (size_t k = 0; k < kPoints.size(); ++k) {
    EXPECT_NEAR(low[k], expected_low[k], 0.1) << k;
    EXPECT_NEAR(high[k], expected_high[k], 0.1) << k;
    EXPECT_LE(high[k], high[k == 0 ? 0 : k - 1]);
  }
}

TEST(TrainForest, EqualRowsAndSeedsYieldEqualForests) {
  BoostingSettings settings;
  settings.trees = 10;
  const auto saved = [&](uint64_t seed) {
    const auto forest = TrainForest(RowsOf(1000), kPoints, settings, seed);
    std::string bytes;
    ByteWriter out(&bytes);
    forest->Save(out);
    return bytes;
  };
  EXPECT_EQ(saved(1), saved(1));
  EXPECT_NE(saved(1), saved(2));
}

TEST(TrainForest, ReportsWhatCannotBeTrained) {
  EXPECT_FALSE(TrainForest(BoostingRows(), kPoints, BoostingSettings(), 1).ok());
  BoostingRows rows = RowsOf(10);
  rows.shares[0] = 2;  // not a share
  const auto forest = TrainForest(rows, kPoints, BoostingSettings(), 1);
  ASSERT_FALSE(forest.ok());
  EXPECT_NE(forest.status().message().find("XGBoost"), std::string::npos) << forest.status();
}

TEST(TrainForest, EqualRowsYieldOneForecast) {
  BoostingRows rows;
  rows.features = 1;
  for (int i = 0; i < 200; ++i) {
    rows.cells.insert(rows.cells.end(), {1.0F, i % 2 == 0 ? -0.5F : 0.5F});
    rows.shares.push_back(i % 2 == 0 ? 1 : 0);
  }
  const auto forest = TrainForest(rows, kPoints, BoostingSettings(), 1);
  ASSERT_TRUE(forest.ok()) << forest.status();
  const float features[] = {1};
  std::vector<float> chances(kPoints.size());
  forest->Evaluate(features, chances);
  EXPECT_GT(chances.front(), 0.9);
  EXPECT_LT(chances.back(), 0.1);
}

}  // namespace
}  // namespace taut
