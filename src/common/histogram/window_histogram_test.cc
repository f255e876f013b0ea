// Compares the plain histogram with a list of its samples.
#include "common/histogram/window_histogram.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "common/histogram/percentile_fixture.h"

namespace taut {
namespace {

using Weights = std::vector<std::pair<Bucket, int>>;

rc::Gen<Weights> AnyWeights() {
  return rc::gen::container<Weights>(
      rc::gen::pair(rc::gen::inRange<Bucket>(0, 321), rc::gen::inRange(0, 100)));
}

WindowHistogram Fill(const Weights& weights, double unit) {
  WindowHistogram h(Grid::Cpu());
  for (const auto& [bucket, weight] : weights) h.AddBucket(bucket, weight * unit);
  return h;
}

RC_GTEST_PROP(WindowHistogram, CountsMergesAndRoundTrips, ()) {
  const auto first = *AnyWeights();
  const auto second = *AnyWeights();
  const double unit = *rc::gen::element(1.0, 0.375);
  WindowHistogram h = Fill(first, unit);
  h.Merge(Fill(second, unit));
  std::map<Bucket, double> model;
  for (const Weights* weights : {&first, &second}) {
    for (const auto& [bucket, weight] : *weights) {
      if (weight > 0) model[bucket] += weight * unit;
    }
  }
  RC_ASSERT(h.buckets().size() == model.size());
  std::vector<double> lower(321), upper(321), weights(321);
  double total = 0;
  double load = 0;
  size_t i = 0;
  for (const auto& [bucket, weight] : model) {
    RC_ASSERT(h.buckets()[i].bucket == bucket);
    RC_ASSERT(double{h.buckets()[i++].weight} == weight);
    weights[bucket] = weight;
    total += weight;
    load += weight * Grid::Cpu().UpperBound(bucket);
  }
  RC_ASSERT(h.TotalWeight() == total);
  RC_ASSERT(h.Mean() == (total > 0 ? load / total : 0.0));
  RC_ASSERT(h.Peak() == (model.empty() ? 0.0 : Grid::Cpu().UpperBound(model.rbegin()->first)));
  for (Bucket k = 0; k < 321; ++k) {
    lower[k] = Grid::Cpu().LowerBound(k);
    upper[k] = Grid::Cpu().UpperBound(k);
  }
  for (const PercentileOf of : {PercentileOf::kTime, PercentileOf::kLoad}) {
    for (const BucketValue value : {BucketValue::kUpperBound, BucketValue::kInterpolated}) {
      for (const LoadBound bound : {LoadBound::kUpper, LoadBound::kLower}) {
        for (const double p : {0.0, 0.5, 0.9, 1.0}) {
          RC_ASSERT(h.Percentile(p, of, value, bound) ==
                    PercentileOfBuckets({lower, upper, weights}, p, of, value, bound));
        }
      }
    }
  }

  std::string bytes;
  ByteWriter out(&bytes);
  h.Save(out);
  if (unit == 1.0) RC_ASSERT(bytes.size() <= 4 + 4 * model.size());
  ByteReader in(bytes);
  const absl::StatusOr<WindowHistogram> loaded = WindowHistogram::Load(in, Grid::Cpu());
  RC_ASSERT(loaded.ok());
  RC_ASSERT(in.remaining() == 0U);
  RC_ASSERT(loaded->buckets().size() == h.buckets().size());
  for (size_t k = 0; k < h.buckets().size(); ++k) {
    RC_ASSERT(loaded->buckets()[k].bucket == h.buckets()[k].bucket);
    RC_ASSERT(loaded->buckets()[k].weight == h.buckets()[k].weight);
  }
}

TEST(WindowHistogram, PercentileOfAWindow) {
  WindowHistogram h(Grid::Cpu());
  h.Add(1.0, 270);
  h.Add(10.0, 30);
  EXPECT_EQ(h.Percentile(0.90), Grid::Cpu().UpperBound(Grid::Cpu().BucketOf(1.0)));
  EXPECT_EQ(h.Percentile(0.90, PercentileOf::kLoad), h.Peak());
  h.Clear();
  EXPECT_EQ(h.Percentile(0.90), 0.0);
}

TEST(WindowHistogram, LoadRefusesWhatSaveCannotWrite) {
  const auto load = [](std::vector<uint64_t> varints, const Grid& grid) {
    std::string bytes;
    ByteWriter out(&bytes);
    for (const uint64_t v : varints) out.PutVarint(v);
    ByteReader in(bytes);
    return WindowHistogram::Load(in, grid).status().code();
  };
  EXPECT_EQ(load({321, 2, 319, 6, 0, 8}, Grid::Cpu()), absl::StatusCode::kOk);
  EXPECT_EQ(load({321, 2, 319, 6, 0, 8}, Grid::Memory()), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(load({321, 2, 320, 6, 0, 8}, Grid::Cpu()), absl::StatusCode::kDataLoss);
  EXPECT_EQ(load({321, 1, UINT64_MAX, 6}, Grid::Cpu()), absl::StatusCode::kDataLoss);
  EXPECT_EQ(load({321, 1, 3, 0}, Grid::Cpu()), absl::StatusCode::kDataLoss);  // weight 0
  EXPECT_EQ(load({321, 1, 3, 7}, Grid::Cpu()), absl::StatusCode::kDataLoss);
  EXPECT_EQ(load({321, 1, 3, uint64_t{1} << 40}, Grid::Cpu()), absl::StatusCode::kDataLoss);
  EXPECT_EQ(load({321, 1, 3, 2 << 24}, Grid::Cpu()), absl::StatusCode::kDataLoss);  // Save writes a float
  EXPECT_EQ(load({321, 322}, Grid::Cpu()), absl::StatusCode::kDataLoss);
  EXPECT_EQ(load({321, 1, 3, 1}, Grid::Cpu()), absl::StatusCode::kDataLoss);  // the float is missing
}

TEST(WindowHistogram, TheLargestWholeWeightsComeBack) {
  for (const double weight : {16'777'215.0, 16'777'216.0, 33'554'432.0}) {
    WindowHistogram h(Grid::Cpu());
    h.AddBucket(7, weight);
    std::string bytes;
    ByteWriter out(&bytes);
    h.Save(out);
    ByteReader in(bytes);
    const absl::StatusOr<WindowHistogram> loaded = WindowHistogram::Load(in, Grid::Cpu());
    ASSERT_TRUE(loaded.ok()) << weight;
    EXPECT_EQ(double{loaded->buckets()[0].weight}, weight);
  }
}

TEST(WindowHistogram, MergingNothingMakesNoBucket) {
  WindowHistogram h(Grid::Cpu());
  h.AddBucket(7, 1);
  h.Merge(std::vector<BucketWeight>{{5, 0.0F}, {9, 2.0F}});
  EXPECT_EQ(h.buckets().size(), 2U);
}

TEST(WindowHistogram, AFullGridComesBack) {
  WindowHistogram h(Grid::Cpu());
  for (Bucket b = 0; b < 321; ++b) h.AddBucket(b, 1);
  std::string bytes;
  ByteWriter out(&bytes);
  h.Save(out);
  ByteReader in(bytes);
  const absl::StatusOr<WindowHistogram> loaded = WindowHistogram::Load(in, Grid::Cpu());
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded->buckets().size(), 321U);
}

}  // namespace
}  // namespace taut
