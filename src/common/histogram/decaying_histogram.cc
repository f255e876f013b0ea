// Rescales, prunes, merges and stores a histogram with forward decay.
#include "common/histogram/decaying_histogram.h"

#include <fmt/format.h>

#include <cassert>
#include <cmath>
#include <limits>

namespace taut {
namespace {

constexpr double kPruneShare = 1e-6;
// Smaller scaled weights are dropped, and larger weights are capped. Both bounds are far from the range in which a
// float loses bits.
constexpr double kMinScaled = 1e-36;
constexpr double kMaxScaled = 1e30;
// Greatest time. A double cannot represent every later second.
constexpr int64_t kMaxTime = int64_t{1} << 53;

}  // namespace

DecayingHistogram::DecayingHistogram(const Grid& grid, double half_life_s)
    : grid_(&grid), half_life_s_(half_life_s) {
  assert(half_life_s > 0);
}

void DecayingHistogram::AddSlow(Bucket bucket, double weight, int64_t time_s) {
  assert(weight >= 0);
  assert(bucket < grid_->size());
  if (!(weight > 0)) return;
  time_s = std::clamp(time_s, -kMaxTime, kMaxTime);
  if (empty()) reference_s_ = time_s;
  const bool moved = LogScaleAt(time_s) >= kMaxLogScale;
  if (moved) MoveReference(time_s);
  const double scaled = std::min(weight, kMaxScaled) * ScaleAt(time_s);
  if (scaled >= kMinScaled) Put(bucket, std::min(scaled, kMaxScaled));
  // Prune after the sample is added: buckets must be compared with the current total, not with the total
  // before the addition.
  if (moved) Prune();
}

void DecayingHistogram::MoveReference(int64_t time_s) {
  // Move the reference by whole half-lives if these are whole seconds: the factor is then a power of two, and no
  // float loses a bit.
  const double half_lives = std::floor(LogScaleAt(time_s));
  const double step = half_lives * half_life_s_;
  const int64_t to =
      step < static_cast<double>(kMaxTime) ? reference_s_ + static_cast<int64_t>(step) : time_s;
  const double factor = 1.0 / ScaleAt(to);
  reference_s_ = to;
  for (float& v : buckets_.values()) v = static_cast<float>(v * factor);
  buckets_.EraseIf([](Bucket, const float* v) { return !(*v >= static_cast<float>(kMinScaled)); });
  Recount();
}

void DecayingHistogram::Prune() {
  const double least = total_ * kPruneShare;
  const double least_load = load_ * kPruneShare;
  buckets_.EraseIf([&](Bucket b, const float* v) {
    return double{*v} < least && double{*v} * grid_->UpperBound(b) < least_load;
  });
  Recount();
}

void DecayingHistogram::Recount() {
  total_ = 0;
  load_ = 0;
  buckets_.ForEach([&](Bucket b, const float* v) {
    total_ += double{*v};
    load_ += double{*v} * grid_->UpperBound(b);
  });
}

double DecayingHistogram::Percentile(double p, PercentileOf of, BucketValue value, LoadBound load) const {
  if (empty()) return 0.0;
  double total = of == PercentileOf::kTime ? total_ : load_;
  const auto walk_down = [&](auto share) {
    PercentileWalk walk(total, p);
    buckets_.Descending([&](Bucket b, const float* v) { return walk.Feed(b, share(b, double{*v})); });
    return walk;
  };
  const auto answer = [&](const PercentileWalk& walk) {
    const auto k = static_cast<Bucket>(walk.index());
    const double top = grid_->UpperBound(k);
    if (value == BucketValue::kUpperBound) return top;
    const double bottom = grid_->LowerBound(k);
    return bottom + (top - bottom) * walk.Fraction(total);
  };
  if (of == PercentileOf::kTime) return answer(walk_down([](Bucket, double v) { return v; }));
  if (load == LoadBound::kUpper) {
    return answer(walk_down([this](Bucket b, double v) { return v * grid_->UpperBound(b); }));
  }
  total = 0;
  buckets_.ForEach([&](Bucket b, const float* v) { total += double{*v} * grid_->LowerBound(b); });
  return answer(walk_down([this](Bucket b, double v) { return v * grid_->LowerBound(b); }));
}

double DecayingHistogram::WeightOf(Bucket bucket, int64_t time_s) const {
  const float* const v = buckets_.Find(bucket);
  return v == nullptr ? 0.0 : double{*v} / ScaleAt(time_s);
}

void DecayingHistogram::Merge(const DecayingHistogram& other) {
  assert(grid_ == other.grid_ && half_life_s_ == other.half_life_s_);
  if (&other == this) {
    const DecayingHistogram copy(other);
    Merge(copy);
    return;
  }
  if (other.empty()) return;
  if (empty()) {
    *this = other;
    return;
  }
  // A scaled weight of `other` is the weight at the reference time of `other`: add it as one sample of that
  // time.
  other.buckets_.ForEach([&](Bucket b, const float* v) { AddToBucket(b, double{*v}, other.reference_s_); });
}

void DecayingHistogram::Save(ByteWriter& out) const {
  out.PutVarint(static_cast<uint64_t>(grid_->size()));
  out.Put(half_life_s_);
  out.Put(reference_s_);
  // Save the sums, too: sums recomputed from the buckets differ in their last bits, and the restored object would
  // diverge.
  out.Put(total_);
  out.Put(load_);
  buckets_.Save(out);
}

absl::StatusOr<DecayingHistogram> DecayingHistogram::Load(ByteReader& in, const Grid& grid) {
  const uint64_t grid_size = in.GetVarint();
  const auto half_life_s = in.Get<double>();
  const auto reference_s = in.Get<int64_t>();
  const auto total = in.Get<double>();
  const auto load = in.Get<double>();
  if (absl::Status s = in.status("a decaying histogram"); !s.ok()) return s;
  if (grid_size != static_cast<uint64_t>(grid.size())) {
    return absl::InvalidArgumentError(
        fmt::format("histogram over a grid of {} buckets; expected {}", grid_size, grid.size()));
  }
  if (!(half_life_s > 0)) return absl::DataLossError("histogram with a half-life that is not positive");
  if (reference_s < -kMaxTime || reference_s > kMaxTime)
    return absl::DataLossError("histogram with a time out of range");
  DecayingHistogram result(grid, half_life_s);
  if (absl::Status s = result.buckets_.Load(in, grid.size()); !s.ok()) return s;
  for (const float v : result.buckets_.values()) {
    if (!(v > 0)) return absl::DataLossError("histogram with an empty bucket");
  }
  result.Recount();
  // Running sums differ from recomputed sums only by rounding; a larger difference is damage. NaN fails the
  // comparison.
  const auto agree = [](double a, double b) { return a == b || std::abs(a - b) <= 1e-4 * b; };
  if (!agree(total, result.total_) || !agree(load, result.load_)) {
    return absl::DataLossError("histogram whose sums do not match its buckets");
  }
  result.reference_s_ = reference_s;
  result.total_ = total;
  result.load_ = load;
  return result;
}

}  // namespace taut
