// A sparse histogram whose samples lose half of their weight per half-life.
//
// Decay is forward: the weight of a new sample is scaled up by 2^(time since the reference / half-life) and
// existing buckets are not touched. When the scale exceeds 2^10, all buckets are rescaled once; buckets that
// then hold less than 1e-6 of the total are dropped.
//
// Only non-empty buckets use memory (4 bytes each, ordered, found through a bitmap), about 0.3 KiB for a real
// job. A bucket is a float: a sample below 6e-8 of the weight in its bucket is lost, so add many equal
// samples as one weight. Source: Autopilot (EuroSys'20) §3.2.2 equations (1) and (3); docs/references.md, A1,
// A3, A4.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/base/bytes.h"
#include "common/histogram/bucket_set.h"
#include "common/histogram/exp2.h"
#include "common/histogram/grid.h"
#include "common/histogram/percentile.h"

namespace taut {

class DecayingHistogram {
 public:
  // REQUIRES: half_life_s > 0; infinity means no decay. `grid` is Grid::Cpu() or Grid::Memory().
  DecayingHistogram(const Grid& grid, double half_life_s);

  // Adds `weight` >= 0 at time_s. Times may be in any order: a sample before the newest sample is weighted by its
  // age. A weight of 0, or a weight too old to be represented in a float, changes nothing. Amortised O(1), at most
  // 10 ns when hot.
  void Add(double value, double weight, int64_t time_s) {
    AddToBucket(grid_->BucketOf(value), weight, time_s);
  }
  void AddToBucket(Bucket bucket, double weight, int64_t time_s);

  // Returns the smallest bucket bound b such that buckets <= b hold at least the share p (0..1) of the total. For
  // p = 0 this is the bound of the lowest non-empty bucket. Returns 0 if the histogram is empty. Relative
  // tolerance 1e-6, since equal decayed weights differ by rounding. A p95 takes at most 60 ns.
  double Percentile(double p, PercentileOf of = PercentileOf::kTime,
                    BucketValue value = BucketValue::kUpperBound, LoadBound load = LoadBound::kUpper) const;
  // Weighted mean of the bucket upper bounds; 0 if empty.
  double Mean() const { return total_ > 0 ? load_ / total_ : 0.0; }
  // Upper bound of the highest non-empty bucket; 0 if empty.
  double Peak() const { return empty() ? 0.0 : grid_->UpperBound(buckets_.Highest()); }
  bool empty() const { return buckets_.empty(); }
  // Sum of decayed weights as of time_s.
  double TotalWeight(int64_t time_s) const { return total_ / ScaleAt(time_s); }
  // Decayed weight in one bucket as of time_s.
  double WeightOf(Bucket bucket, int64_t time_s) const;

  // Adds the samples of `other`; each sample keeps its age. REQUIRES: the same grid and half-life.
  void Merge(const DecayingHistogram& other);

  const Grid& grid() const { return *grid_; }
  double half_life_s() const { return half_life_s_; }
  size_t state_bytes() const { return sizeof(*this) + buckets_.heap_bytes(); }

  // Appends a self-contained record. The record has no checksum; common/histogram/checkpoint.h provides the
  // envelope.
  void Save(ByteWriter& out) const;
  // Returns the histogram that Save wrote, equal in every bit. InvalidArgument for another grid, DataLoss for
  // bytes that Save cannot have written; never crashes.
  static absl::StatusOr<DecayingHistogram> Load(ByteReader& in, const Grid& grid);

 private:
  static constexpr double kMaxLogScale = 10;

  double LogScaleAt(int64_t time_s) const {
    return static_cast<double>(time_s - reference_s_) / half_life_s_;
  }
  double ScaleAt(int64_t time_s) const { return Exp2(LogScaleAt(time_s)); }
  void Put(Bucket bucket, double scaled_weight) {
    float* const row = buckets_.FindOrInsert(bucket);
    const float before = *row;
    const float after = before + static_cast<float>(scaled_weight);
    *row = after;
    // Add the increase of the rounded float, so that the running sums equal the sums over the rows.
    const double gain = double{after} - double{before};
    total_ += gain;
    load_ += gain * grid_->UpperBound(bucket);
  }
  void AddSlow(Bucket bucket, double weight, int64_t time_s);
  void MoveReference(int64_t time_s);
  void Prune();
  void Recount();

  const Grid* grid_;
  double half_life_s_;
  int64_t reference_s_ = 0;  // time at which weights have scale 1; begins at the first sample
  double total_ = 0;         // sum of the scaled weights of all buckets
  double load_ = 0;          // sum of scaled weight times upper bound, over all buckets
  BucketFloats buckets_;
};

inline void DecayingHistogram::AddToBucket(Bucket bucket, double weight, int64_t time_s) {
  const double log_scale = LogScaleAt(time_s);
  // The slow path handles very old samples (scaled weights below float's normal range), rescaling, and the first
  // sample.
  if (!(log_scale < kMaxLogScale && log_scale > -60.0) || !(weight > 1e-18 && weight < 1e27) || empty()) {
    AddSlow(bucket, weight, time_s);
    return;
  }
  Put(bucket, weight * Exp2(log_scale));
}

}  // namespace taut
