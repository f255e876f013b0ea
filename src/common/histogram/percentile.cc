// The percentile rule over explicit buckets.
#include "common/histogram/percentile.h"

#include <cassert>

namespace taut {

double PercentileOfBuckets(std::span<const double> lower, std::span<const double> upper,
                           std::span<const double> weights, double p, PercentileOf of, BucketValue value,
                           LoadBound load) {
  assert(lower.size() == upper.size() && lower.size() == weights.size());
  const std::span<const double> bound = load == LoadBound::kUpper ? upper : lower;
  const auto share = [&](size_t k) { return of == PercentileOf::kLoad ? weights[k] * bound[k] : weights[k]; };
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
