#include "brain/replicas/quarter_rises.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace taut::brain {

void QuarterRises::Observe(Timestamp at, double load) {
  const int64_t quarter = FloorDiv(at.seconds(), kQuarterSeconds);
  if (quarter != quarter_) {
    const bool follows = quarter_ != INT64_MIN && quarter == quarter_ + 1 && samples_ > 0;
    before_ = follows ? sum_ / samples_ : 0;
    // Marks the quarters without a sample as unknown, at most all quarters of the ring.
    const int64_t first =
        quarter_ == INT64_MIN ? quarter : std::max(quarter_ + 1, quarter - kQuartersPerDay * kDays + 1);
    for (int64_t q = first; q <= quarter; ++q) Rise(q) = kUnknown;
    quarter_ = quarter;
    sum_ = 0;
    samples_ = 0;
  }
  sum_ += load;
  ++samples_;
  if (before_ > 0)
    Rise(quarter) = std::max(Rise(quarter), static_cast<float>(std::max(0.0, load / before_ - 1)));
}

QuarterRises::Answer QuarterRises::At(Timestamp at) const {
  const int64_t quarter = FloorDiv(at.seconds(), kQuarterSeconds);
  std::array<float, static_cast<size_t>(kDays)> known{};
  Answer out;
  for (int64_t day = 1; day < kDays; ++day) {
    const int64_t then = quarter - day * kQuartersPerDay;
    if (then > quarter_ || then <= quarter_ - kQuartersPerDay * kDays || Rise(then) == kUnknown) continue;
    known[static_cast<size_t>(out.days++)] = Rise(then);
  }
  if (out.days == 0) return out;
  const auto end = known.begin() + out.days;
  std::sort(known.begin(), end);
  const double median = known[static_cast<size_t>(out.days) / 2];
  out.share = std::max(0.1, std::floor(median * 10 - 1e-6) / 10);
  out.above = static_cast<int>(end - std::upper_bound(known.begin(), end, static_cast<float>(out.share)));
  return out;
}

void QuarterRises::Save(ByteWriter& out) const {
  for (const float r : rises_) out.Put(r);
  PutOptional(quarter_ == INT64_MIN ? std::nullopt : std::optional(quarter_), out);
  out.Put(sum_);
  out.Put(before_);
  out.Put(samples_);
}

void QuarterRises::Load(StoredValues& in) {
  in.Fill(std::span(rises_), kUnknown, std::numeric_limits<float>::infinity());
  quarter_ = in.OptionalStep().value_or(INT64_MIN);
  sum_ = in.Finite();
  before_ = in.Finite();
  samples_ = in.Count();
}

}  // namespace taut::brain
