// The bucket grid: about 400 geometric buckets, 16 per octave (each 2^(1/16) = 4.4 % wide).
//
// Bucket k holds the values in (UpperBound(k-1), UpperBound(k)]. Bucket 0 holds everything at or below its
// bound, and the last bucket everything above the previous bucket's bound. UpperBound(k) is the smallest
// limit that covers all values of buckets 0..k (docs/references.md, A6).
//
//   CPU:    1 millicore .. 1,048 cores (321 buckets).   Memory: 1 MiB .. 16 TiB (385 buckets).
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>

namespace taut {

using Bucket = uint16_t;

struct BucketWeight {
  Bucket bucket = 0;
  float weight = 0;
};

class Grid {
 public:
  static constexpr int kPerOctave = 16;
  static constexpr int kMaxBuckets = 400;

  // The two grids. Static and never destroyed.
  static const Grid& Cpu();     // values in cores
  static const Grid& Memory();  // values in bytes

  int size() const { return size_; }
  double UpperBound(Bucket k) const { return bounds_[k]; }
  // Returns UpperBound of the bucket below; 0 for bucket 0.
  double LowerBound(Bucket k) const { return k == 0 ? 0.0 : bounds_[k - 1]; }
  std::span<const double> upper_bounds() const { return {bounds_, static_cast<size_t>(size_)}; }

  // Returns the bucket that holds `value`. Accepts every value: negative values and NaN belong to bucket 0, values
  // above the grid to the last bucket. Takes a few ns: exponent and mantissa bits index a table, and at most one
  // bound is compared; no logarithm.
  Bucket BucketOf(double value) const;

  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;

 private:
  // An octave is divided into 64 equal cells (6 mantissa bits), each narrower than a bucket: a cell overlaps
  // at most two buckets.
  static constexpr int kCellBits = 6;
  // 2^(i/16), i = 0..15: literals, so that the bounds are the same bits on every platform.
  static constexpr double kRoots[kPerOctave] = {
      1.0,
      1.0442737824274138403,
      1.0905077326652576592,
      1.1387886347566916537,
      1.1892071150027210667,
      1.2418578120734840486,
      1.2968395546510096659,
      1.3542555469368927283,
      1.4142135623730950488,
      1.4768261459394993114,
      1.5422108254079408236,
      1.6104903319492543082,
      1.6817928305074290861,
      1.7562521603732994831,
      1.8340080864093424635,
      1.9152065613971472939,
  };
  // Indexed by cell: the lower of the cell's buckets, as an offset from the bucket that ends where the octave
  // begins.
  static constexpr std::array<uint8_t, 1 << kCellBits> kFirstInCell = [] {
    std::array<uint8_t, 1 << kCellBits> first{};
    for (int cell = 0; cell < 1 << kCellBits; ++cell) {
      const double start = 1.0 + static_cast<double>(cell) / (1 << kCellBits);
      uint8_t k = 0;
      while (k < kPerOctave && start > kRoots[k]) ++k;
      first[static_cast<size_t>(cell)] = k;
    }
    return first;
  }();

  Grid(double first_bound, int octaves);

  double scale_;  // 1 / first bound
  int size_;
  double bounds_[kMaxBuckets];
};

inline Bucket Grid::BucketOf(double value) const {
  if (!(value > bounds_[0])) return 0;
  if (value > bounds_[size_ - 2]) return static_cast<Bucket>(size_ - 1);
  // Scale to units of the first bound. Rounding may move the product across a cell edge. An edge is either
  // far from every bucket bound, or a power of two where both cells have the same bucket; the bound itself is
  // compared unscaled.
  const uint64_t bits = std::bit_cast<uint64_t>(value * scale_);
  const int octave = static_cast<int>(bits >> 52) - 1023;
  const int cell = static_cast<int>(bits >> (52 - kCellBits)) & ((1 << kCellBits) - 1);
  const int k = octave * kPerOctave + kFirstInCell[static_cast<size_t>(cell)];
  return static_cast<Bucket>(k + (value > bounds_[k] ? 1 : 0));
}

}  // namespace taut
