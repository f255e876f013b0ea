// The percentile rule over explicit buckets: a reference for tests of the histograms.
#pragma once

#include <cassert>
#include <vector>

#include "common/histogram/percentile.h"

namespace taut {

// Buckets in ascending order; the three vectors have equal sizes.
struct ExplicitBuckets {
  std::vector<double> lower, upper;
  std::vector<double> weights;  // weights of the buckets, >= 0
};

// Returns the smallest bound such that the buckets up to this bound hold at least p (0..1) of the total. For p = 0
// this is the bound of the lowest bucket with weight. Returns 0 if no bucket has weight. O(n).
inline double PercentileOfBuckets(const ExplicitBuckets& buckets, double p, PercentileOf of,
                                  BucketValue value = BucketValue::kUpperBound,
                                  LoadBound load = LoadBound::kUpper) {
  const auto& [lower, upper, weights] = buckets;
  assert(lower.size() == upper.size() && lower.size() == weights.size());
  const auto share = [&](size_t k) {
    if (of != PercentileOf::kLoad) return buckets.weights[k];
    return buckets.weights[k] * (load == LoadBound::kUpper ? buckets.upper[k] : buckets.lower[k]);
  };
  double total = 0;
  for (size_t k = 0; k < weights.size(); ++k) total += share(k);
  PercentileWalk walk(total, p);
  for (size_t k = weights.size(); k-- > 0;) {
    if (weights[k] > 0 && !walk.Feed(k, share(k))) break;
  }
  if (!walk.found()) return 0.0;
  const size_t k = walk.index();
  if (value == BucketValue::kUpperBound) return upper[k];
  return lower[k] + (upper[k] - lower[k]) * walk.Fraction(total);
}

}  // namespace taut
