// The percentile rule of all histograms in this project, and its variants.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "common/histogram/grid.h"

namespace taut {

// The quantity of a bucket that a percentile sums up.
enum class PercentileOf : uint8_t {
  kTime,  // the bucket's weight
  kLoad,  // weight times bound: equation (3), "j % of the load is served at or below the limit"
};
// The value returned for the bucket that contains the percentile.
enum class BucketValue : uint8_t {
  kUpperBound,   // upper bound of the bucket, a limit that covers the bucket; used by the engine
  kInterpolated  // linear between the bucket's bounds
};
// The bound from which a bucket's load is computed: weight * bound.
enum class LoadBound : uint8_t { kUpper, kLower };

// Relative tolerance of "at least p of the total": decayed weights that should be equal differ by rounding.
inline constexpr double kPercentileTolerance = 1e-6;

// Applies the percentile rule to buckets that the caller feeds from the highest down. The result is the lowest
// bucket such that this bucket and the lower buckets hold at least p of the total.
class PercentileWalk {
 public:
  // `total` is the sum of all shares that will be fed. p is clamped to 0..1.
  PercentileWalk(double total, double p)
      : wanted_(std::clamp(p, 0.0, 1.0) * total), room_(total - wanted_ * (1.0 - kPercentileTolerance)) {}

  // Feeds the next lower bucket. Returns false once the result is found; Feed must not be called again after
  // it returned false.
  bool Feed(size_t index, double share) {
    if (found_ && above_ + share_ > room_) return false;
    if (found_) above_ += share_;
    found_ = true;
    index_ = index;
    share_ = share;
    return true;
  }
  bool found() const { return found_; }  // true if a bucket was fed
  // REQUIRES: found().
  size_t index() const { return index_; }
  // Position of the percentile inside its bucket, 0..1 from the bottom, if the bucket's share is spread
  // evenly.
  double Fraction(double total) const {
    const double below = total - above_ - share_;
    return share_ > 0 ? std::clamp((wanted_ - below) / share_, 0.0, 1.0) : 1.0;
  }

 private:
  double wanted_;
  double room_;       // greatest share that may lie above the result
  double above_ = 0;  // share of the buckets above index_
  double share_ = 0;  // share of the bucket index_
  size_t index_ = 0;
  bool found_ = false;
};

}  // namespace taut
