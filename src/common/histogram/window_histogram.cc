// Implements WindowHistogram, the histogram without decay.
#include "common/histogram/window_histogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

namespace taut {
namespace {

// A whole weight is stored as 2 * weight, which is even; 1 means that a float follows.
constexpr uint64_t kFloatFollows = 1;
constexpr float kMaxWhole = 16777216.0F;

bool IsWhole(float weight) { return weight < kMaxWhole && weight == std::floor(weight); }

}  // namespace

void WindowHistogram::AddBucket(Bucket bucket, double weight) {
  assert(weight >= 0 && bucket < grid_->size());
  const auto w = static_cast<float>(weight);
  if (!(w > 0)) return;
  auto it = buckets_.end();
  while (it != buckets_.begin() && (it - 1)->bucket >= bucket) --it;
  if (it != buckets_.end() && it->bucket == bucket) {
    it->weight += w;
  } else {
    buckets_.insert(it, {bucket, w});
  }
}

void WindowHistogram::Merge(std::span<const BucketWeight> buckets) {
  std::vector<BucketWeight> merged;
  merged.reserve(buckets_.size() + buckets.size());
  auto mine = buckets_.begin();
  for (const BucketWeight& theirs : buckets) {
    while (mine != buckets_.end() && mine->bucket < theirs.bucket) merged.push_back(*mine++);
    if (mine != buckets_.end() && mine->bucket == theirs.bucket) {
      merged.push_back({theirs.bucket, mine->weight + theirs.weight});
      ++mine;
    } else if (theirs.weight > 0) {
      merged.push_back(theirs);
    }
  }
  merged.insert(merged.end(), mine, buckets_.end());
  buckets_ = std::move(merged);
}

double WindowHistogram::Percentile(double p, PercentileOf of, BucketValue value, LoadBound load) const {
  if (empty()) return 0.0;
  const auto share = [&](const BucketWeight& b) {
    if (of == PercentileOf::kTime) return double{b.weight};
    const double bound =
        load == LoadBound::kUpper ? grid_->UpperBound(b.bucket) : grid_->LowerBound(b.bucket);
    return b.weight * bound;
  };
  double total = 0;
  for (const BucketWeight& b : buckets_) total += share(b);
  PercentileWalk walk(total, p);
  for (auto it = buckets_.rbegin(); it != buckets_.rend() && walk.Feed(it->bucket, share(*it)); ++it) {
  }
  const auto k = static_cast<Bucket>(walk.index());
  const double top = grid_->UpperBound(k);
  if (value == BucketValue::kUpperBound) return top;
  const double bottom = grid_->LowerBound(k);
  return bottom + (top - bottom) * walk.Fraction(total);
}

double WindowHistogram::Mean() const {
  double weight = 0;
  double load = 0;
  for (const BucketWeight& b : buckets_) {
    weight += double{b.weight};
    load += b.weight * grid_->UpperBound(b.bucket);
  }
  return weight > 0 ? load / weight : 0.0;
}

double WindowHistogram::TotalWeight() const {
  double weight = 0;
  for (const BucketWeight& b : buckets_) weight += double{b.weight};
  return weight;
}

void WindowHistogram::Save(ByteWriter& out) const {
  out.PutVarint(static_cast<uint64_t>(grid_->size()));
  out.PutVarint(buckets_.size());
  int next = 0;
  for (const BucketWeight& b : buckets_) {
    out.PutVarint(static_cast<uint64_t>(b.bucket - next));
    next = b.bucket + 1;
    if (IsWhole(b.weight)) {
      out.PutVarint(2 * static_cast<uint64_t>(b.weight));
    } else {
      out.PutVarint(kFloatFollows);
      out.Put(b.weight);
    }
  }
}

absl::StatusOr<WindowHistogram> WindowHistogram::Load(ByteReader& in, const Grid& grid) {
  const auto size = static_cast<uint64_t>(grid.size());
  const uint64_t grid_size = in.GetVarint();
  const uint64_t count = in.GetVarint();
  if (absl::Status s = in.status("a window's histogram"); !s.ok()) return s;
  if (grid_size != size) {
    return absl::InvalidArgumentError(
        fmt::format("histogram over a grid of {} buckets; expected {}", grid_size, size));
  }
  if (count > size) return absl::DataLossError("more buckets than the grid");
  WindowHistogram result(grid);
  result.buckets_.reserve(count);
  uint64_t next = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t gap = in.GetVarint();
    const uint64_t code = in.GetVarint();
    const float weight = code == kFloatFollows ? in.Get<float>() : static_cast<float>(code / 2);
    if (absl::Status s = in.status("a window's histogram"); !s.ok()) return s;
    if (gap >= size - next) return absl::DataLossError("a bucket beyond the grid");
    if (code != kFloatFollows && (code % 2 != 0 || code >= 2 * static_cast<uint64_t>(kMaxWhole))) {
      return absl::DataLossError("a bucket weight in an unknown encoding");
    }
    if (!(weight > 0 && std::isfinite(weight)))
      return absl::DataLossError("a bucket value that is not a weight");
    result.buckets_.push_back({static_cast<Bucket>(next + gap), weight});
    next += gap + 1;
  }
  return result;
}

}  // namespace taut
