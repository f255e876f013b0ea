// A histogram of one window or one day, without decay.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/bytes.h"
#include "common/histogram/grid.h"
#include "common/histogram/percentile.h"

namespace taut {

// Ordered pairs of bucket and weight, 8 bytes each. A window has a handful of buckets, a day has some tens.
class WindowHistogram {
 public:
  // `grid` is Grid::Cpu() or Grid::Memory().
  explicit WindowHistogram(const Grid& grid) : grid_(&grid) {}

  // Adds `weight` >= 0 to the bucket of `value`; a weight of 0 changes nothing. O(1) if the value is near or
  // above the last added value, else O(buckets).
  void Add(double value, double weight) { AddBucket(grid_->BucketOf(value), weight); }
  void AddBucket(Bucket bucket, double weight);
  // Adds the other histogram. O(buckets of both histograms). REQUIRES: the same grid.
  void Merge(const WindowHistogram& other) { Merge(other.buckets()); }
  // Adds buckets in strictly ascending order.
  void Merge(std::span<const BucketWeight> buckets);
  // Removes all buckets. Keeps the allocation for the next window.
  void Clear() { buckets_.clear(); }

  // Returns the percentile by the rule of DecayingHistogram::Percentile. O(buckets).
  double Percentile(double p, PercentileOf of = PercentileOf::kTime,
                    BucketValue value = BucketValue::kUpperBound, LoadBound load = LoadBound::kUpper) const;
  // Weighted mean of the bucket upper bounds; 0 if empty.
  double Mean() const;
  // Upper bound of the highest non-empty bucket; 0 if empty.
  double Peak() const { return empty() ? 0.0 : grid_->UpperBound(buckets_.back().bucket); }
  // Sum of all weights. O(buckets).
  double TotalWeight() const;
  bool empty() const { return buckets_.empty(); }
  // Returns the buckets in strictly ascending order, with weights > 0.
  std::span<const BucketWeight> buckets() const { return buckets_; }

  const Grid& grid() const { return *grid_; }
  size_t state_bytes() const { return sizeof(*this) + buckets_.capacity() * sizeof(BucketWeight); }

  // Appends the buckets. A whole weight below 2^24 is stored as a varint, so that counts are small. Any other
  // weight is stored as a marker and 4 bytes.
  void Save(ByteWriter& out) const;
  // Returns the histogram that Save wrote; InvalidArgument for another grid, DataLoss for bytes that Save
  // cannot have written.
  static absl::StatusOr<WindowHistogram> Load(ByteReader& in, const Grid& grid);

 private:
  const Grid* grid_;
  std::vector<BucketWeight> buckets_;
};

}  // namespace taut
