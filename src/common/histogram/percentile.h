// The one percentile rule that every histogram here follows, and its readings.
//
// Source: Autopilot (EuroSys'20) §3.2.2 equation (3) and figure 2; docs/references.md, A2 to A4.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "common/histogram/grid.h"

namespace taut {

// What a bucket counts for in a percentile.
enum class PercentileOf : uint8_t {
  kTime,  // its weight
  kLoad,  // its weight times its bound: equation (3), "j % of the load is served at or below the limit"
};
// What is returned for the bucket that the percentile falls in.
enum class BucketValue : uint8_t {
  kUpperBound,   // a legal limit that covers it (the engine's reading)
  kInterpolated  // linear between the bucket's bounds
};
// Which bound stands for a bucket where its load is weighed.
enum class LoadBound : uint8_t { kUpper, kLower };

// "At least p of the total" is judged with this relative slack: decayed weights that should tie do so only
// nearly.
inline constexpr double kPercentileTolerance = 1e-6;

// The rule itself, fed bucket by bucket from the top down: the answer is the lowest bucket such that what
// lies above it still leaves p of the total at or below it.
class PercentileWalk {
 public:
  // `total` is the sum of all shares that will be fed; p in 0..1, cut off outside.
  PercentileWalk(double total, double p)
      : wanted_(std::clamp(p, 0.0, 1.0) * total), room_(total - wanted_ * (1.0 - kPercentileTolerance)) {}

  // Feeds the next bucket below. False once the bucket is found: stop feeding.
  bool Feed(size_t index, double share) {
    if (found_ && above_ + share_ > room_) return false;
    if (found_) above_ += share_;
    found_ = true;
    index_ = index;
    share_ = share;
    return true;
  }
  bool found() const { return found_; }  // at least one bucket was fed
  // REQUIRES: found().
  size_t index() const { return index_; }
  // Where the percentile lies inside its bucket, 0..1 counted from the bottom, if the bucket's share is
  // spread evenly.
  double Fraction(double total) const {
    const double below = total - above_ - share_;
    return share_ > 0 ? std::clamp((wanted_ - below) / share_, 0.0, 1.0) : 1.0;
  }

 private:
  double wanted_;
  double room_;       // what may lie above the answer
  double above_ = 0;  // what lies above index_
  double share_ = 0;  // of index_
  size_t index_ = 0;
  bool found_ = false;
};

}  // namespace taut
