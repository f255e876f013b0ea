// A sparse histogram whose samples lose half of their weight every half-life.
//
// Decay is forward: a new sample's weight is scaled UP by 2^(age of the reference / half-life) and no bucket is
// touched; when the scale grows past a power of two that a float bears, all buckets are rescaled once. Buckets that
// hold less than 1e-6 of the total after a rescale are dropped.
//
// Only non-empty buckets take memory (4 bytes each, ordered, found through a bitmap), about 0.3 KiB for a real job.
// Source: Autopilot (EuroSys'20) §3.2.2 equations (1) and (3); papers.md A1, A3, A4.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/bytes.h"
#include "histogram/bucket_set.h"
#include "histogram/grid.h"

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

class DecayingHistogram {
 public:
  // half_life_s > 0; infinity means no decay. `grid` is Grid::Cpu() or Grid::Memory().
  DecayingHistogram(const Grid& grid, double half_life_s);

  // Adds `weight` >= 0 at time_s. A time before an earlier one is fine: the sample is weighed as that much older.
  // Amortised O(1); <= 10 ns hot.
  void Add(double value, double weight, int64_t time_s) { AddToBucket(grid_->BucketOf(value), weight, time_s); }
  void AddToBucket(Bucket bucket, double weight, int64_t time_s);

  // The smallest bucket bound b such that buckets <= b hold at least p (0..1) of the total: inclusive, with a
  // relative tolerance of 1e-6 because decayed ties are inexact. 0 if empty. p95 <= 60 ns.
  double Percentile(double p, PercentileOf of = PercentileOf::kTime, BucketValue value = BucketValue::kUpperBound,
                    LoadBound load = LoadBound::kUpper) const;
  // Weighted mean of the bucket upper bounds; 0 if empty.
  double Mean() const;
  // Upper bound of the highest non-empty bucket; 0 if empty.
  double Peak() const;
  bool empty() const { return buckets_.empty(); }
  // Sum of decayed weights as of time_s.
  double TotalWeight(int64_t time_s) const;
  // Decayed weight in one bucket as of time_s.
  double WeightOf(Bucket bucket, int64_t time_s) const;

  // Adds every sample of `other` (same grid and half-life), each as old as it is there.
  void Merge(const DecayingHistogram& other);

  const Grid& grid() const { return *grid_; }
  double half_life_s() const { return half_life_s_; }
  size_t state_bytes() const;  // heap and object

  // Appends a self-contained record (no checksum: see histogram/checkpoint.h for the envelope).
  void Save(ByteWriter& out) const;
  // Reads what Save wrote. InvalidArgument/DataLoss for bytes that Save cannot have written; never crashes.
  static absl::StatusOr<DecayingHistogram> Load(ByteReader& in, const Grid& grid);

 private:
  const Grid* grid_;
  double half_life_s_;
  int64_t reference_s_ = 0;  // the time at which a weight counts once
  double total_ = 0;         // sums over buckets, in scaled weights
  BucketFloats buckets_;
};

}  // namespace taut
