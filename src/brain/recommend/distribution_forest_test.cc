// Tests the forest on data with a known distribution, which the forecasts must reproduce.
#include "brain/recommend/distribution_forest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "common/base/random.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using Row = DistributionForest::Row;
constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

// Feature 3 is u in [0, 1), feature 7 selects the narrow or the wide half, and all other features are noise. The
// outcome is N(mu(u), sigma(half)).
double Mu(double u) { return 0.4 * u - 0.2; }
double Sigma(bool wide) { return wide ? 0.30 : 0.05; }

Row AnyRow(Rng& rng) {
  Row r;
  for (float& f : r.features) f = static_cast<float>(rng.Normal());
  r.features[3] = static_cast<float>(rng.Uniform());
  const bool wide = rng.Below(2) == 1;
  r.features[7] = wide ? 1 : 0;
  r.outcome = static_cast<float>(Mu(r.features[3]) + Sigma(wide) * rng.Normal());
  return r;
}

std::vector<Row> Rows(size_t n, uint64_t seed) {
  Rng rng(seed);
  std::vector<Row> rows(n);
  for (Row& r : rows) r = AnyRow(rng);
  return rows;
}

ForestSettings AllFeatures() {
  ForestSettings s;
  s.features_per_split = 16;
  return s;
}

std::vector<float> Shares(const DistributionForest& forest, const FleetFeatures& features) {
  std::vector<float> shares(AnalogGrid::kBins);
  forest.Predict(features, std::span<float, AnalogGrid::kBins>(shares));
  return shares;
}

// Returns the p-quantile of a forecast.
double QuantileOf(const std::vector<float>& shares, double p) {
  double sum = 0;
  for (int k = 0; k < AnalogGrid::kEdges; ++k) {
    sum += double{shares[static_cast<size_t>(k)]};
    if (sum >= p) return AnalogGrid::Get().Edge(k);
  }
  return INFINITY;
}

TEST(DistributionForest, ForecastsAreTheLawsDistributions) {
  DistributionForest forest;
  forest.Train(Rows(20'000, 1), AllFeatures(), 7);
  Rng rng(2);
  for (bool wide : {false, true}) {
    double error[3] = {};
    constexpr int kCases = 60;
    for (int i = 0; i < kCases; ++i) {
      Row r = AnyRow(rng);
      r.features[3] = static_cast<float>(rng.Uniform(0.1, 0.9));
      r.features[7] = wide ? 1 : 0;
      const std::vector<float> shares = Shares(forest, r.features);
      double sum = 0;
      for (float s : shares) sum += double{s};
      ASSERT_NEAR(sum, 1, 1e-4);
      const double z[3] = {-1.2816, 0, 1.2816};
      for (int q = 0; q < 3; ++q) {
        const double truth = Mu(r.features[3]) + Sigma(wide) * z[q];
        error[q] += (QuantileOf(shares, q == 0 ? 0.1 : q == 1 ? 0.5 : 0.9) - truth) / kCases;
      }
    }
    for (double e : error) EXPECT_LT(std::abs(e), 0.04) << wide;
  }
}

// The probability integral transform of fresh outcomes is uniform: every tenth of [0, 1] contains a tenth of the
// outcomes.
TEST(DistributionForest, FreshOutcomesFallEvenlyIntoTheForecasts) {
  DistributionForest forest;
  forest.Train(Rows(20'000, 3), AllFeatures(), 7);
  const std::vector<Row> fresh = Rows(4000, 4);
  Rng rng(5);
  int counts[10] = {};
  for (const Row& r : fresh) {
    const std::vector<float> shares = Shares(forest, r.features);
    const int bin = AnalogGrid::Get().BinOf(r.outcome);
    double below = 0;
    for (int k = 0; k < bin; ++k) below += double{shares[static_cast<size_t>(k)]};
    const double pit = below + rng.Uniform() * double{shares[static_cast<size_t>(bin)]};
    ++counts[std::clamp(static_cast<int>(pit * 10), 0, 9)];
  }
  for (int c : counts) EXPECT_NEAR(c / 4000.0, 0.1, 0.03);
}

TEST(DistributionForest, IsTheSameForTheSameSeed) {
  const std::vector<Row> rows = Rows(2000, 6);
  DistributionForest a, b, c;
  a.Train(rows, ForestSettings(), 9);
  b.Train(rows, ForestSettings(), 9);
  c.Train(rows, ForestSettings(), 10);
  EXPECT_EQ(Shares(a, rows[0].features), Shares(b, rows[0].features));
  EXPECT_NE(Shares(a, rows[0].features), Shares(c, rows[0].features));
  // A second training replaces the first completely.
  c.Train(rows, ForestSettings(), 9);
  EXPECT_EQ(Shares(a, rows[0].features), Shares(c, rows[0].features));
  EXPECT_EQ(a.rows(), rows.size());
}

// A missing feature counts as a value: rows without feature 3 have another distribution, which the forest
// learns.
TEST(DistributionForest, MissingIsALevelOfItsOwn) {
  std::vector<Row> rows = Rows(8000, 8);
  for (size_t i = 0; i < rows.size(); i += 2) {
    rows[i].features[3] = kMissing;
    rows[i].outcome += 2;
  }
  DistributionForest forest;
  forest.Train(rows, AllFeatures(), 1);
  FleetFeatures there = rows[1].features;
  FleetFeatures missing = there;
  missing[3] = kMissing;
  EXPECT_LT(QuantileOf(Shares(forest, there), 0.5), 0.5);
  EXPECT_GT(QuantileOf(Shares(forest, missing), 0.5), 1.5);
  FleetFeatures nothing;
  nothing.fill(kMissing);
  const std::vector<float> shares = Shares(forest, nothing);
  double sum = 0;
  for (float s : shares) sum += double{s};
  EXPECT_NEAR(sum, 1, 1e-4);
}

TEST(DistributionForest, OneRowOrEqualRowsAreForecastAsTheyAre) {
  for (size_t n : {1U, 50U}) {
    std::vector<Row> rows(n);
    for (Row& r : rows) {
      r.features.fill(1);
      r.outcome = 0.25F;
    }
    DistributionForest forest;
    EXPECT_TRUE(forest.empty());
    forest.Train(rows, ForestSettings(), 1);
    const std::vector<float> shares = Shares(forest, rows[0].features);
    EXPECT_NEAR(shares[static_cast<size_t>(AnalogGrid::Get().BinOf(0.25F))], 1, 1e-5);
  }
  DistributionForest none;
  none.Train({}, ForestSettings(), 1);
  EXPECT_TRUE(none.empty());
}

// Similar rows are training rows, and the forecast is the distribution of their outcomes.
TEST(DistributionForest, SimilarOutcomesAreThoseOfTheSameLeaves) {
  std::vector<Row> rows = Rows(3000, 12);
  for (size_t i = 0; i < rows.size(); ++i)
    rows[i].outcome = 1e-5F * static_cast<float>(i) - 0.015F;  // all outcomes are distinct
  DistributionForest forest;
  forest.Train(rows, ForestSettings(), 3);
  const std::vector<float> similar = forest.SimilarOutcomes(rows[0].features);
  ASSERT_GE(similar.size(), 10U);
  std::set<float> known;
  for (const Row& r : rows) known.insert(r.outcome);
  std::set<int> bins;
  for (float y : similar) {
    EXPECT_TRUE(known.contains(y));
    bins.insert(AnalogGrid::Get().BinOf(y));
  }
  const std::vector<float> shares = Shares(forest, rows[0].features);
  for (int k = 0; k < AnalogGrid::kBins; ++k) {
    EXPECT_EQ(shares[static_cast<size_t>(k)] > 0, bins.contains(k)) << k;
  }
}

}  // namespace
}  // namespace taut::brain
