// The bucket grid: about 400 geometric buckets, 16 to the octave (each 2^(1/16) = 4.4 % wide).
//
// Bucket k holds the values in (UpperBound(k-1), UpperBound(k)]; bucket 0 holds everything at or below its bound,
// the last bucket everything above the bound before it. UpperBound(k) is therefore the smallest limit that covers
// every value of buckets 0..k: a limit equal to UpperBound(k) covers bucket k exactly (papers.md A6).
//
//   CPU:    1 millicore .. 1,048 cores (321 buckets).   Memory: 1 MiB .. 16 TiB (385 buckets).
#pragma once

#include <cstdint>
#include <span>

namespace taut {

using Bucket = uint16_t;

class Grid {
 public:
  static constexpr int kPerOctave = 16;
  static constexpr int kMaxBuckets = 400;

  // The two grids there are; they live for ever.
  static const Grid& Cpu();     // values in cores
  static const Grid& Memory();  // values in bytes

  int size() const { return size_; }
  double UpperBound(Bucket k) const { return bounds_[k]; }
  // UpperBound of the bucket below; 0 for bucket 0.
  double LowerBound(Bucket k) const { return k == 0 ? 0.0 : bounds_[k - 1]; }
  std::span<const double> upper_bounds() const { return {bounds_, static_cast<size_t>(size_)}; }

  // The bucket that holds `value`. Total: negative values and NaN land in bucket 0, values above the grid in the
  // last. A few ns: exponent and mantissa bits index a table and at most one bound is compared; no log.
  Bucket BucketOf(double value) const;

  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;

 private:
  Grid(double first_bound, int octaves);

  double scale_;  // 1 / first bound
  int size_;
  double bounds_[kMaxBuckets];
};

}  // namespace taut
