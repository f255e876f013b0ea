#include "brain/replicas/span_statistics.h"

#include <algorithm>
#include <cmath>

#include "brain/replicas/ceil_of.h"
#include "common/base/time.h"

namespace taut::brain {

SpanStatistics::SpanStatistics(std::span<const LoadSpan> spans, double step_s)
    : spans_(spans.begin(), spans.end()), values_(spans.size()) {
  int64_t longest_s = 0;
  bool percentile = false;
  for (const LoadSpan& s : spans_) {
    longest_s = std::max(longest_s, s.seconds);
    percentile = percentile || s.statistic == SpanStatistic::kP95;
  }
  slot_s_ = std::max({int64_t{1}, static_cast<int64_t>(std::llround(std::min(step_s, 1e9))),
                      (longest_s + kMostSlots - 1) / kMostSlots});
  if (longest_s > 0) loads_.resize(static_cast<size_t>((longest_s + slot_s_ - 1) / slot_s_), kAbsent);
  if (percentile) sorted_.reserve(loads_.size());
}

void SpanStatistics::Observe(int64_t at_s, double load) {
  if (loads_.empty()) return;
  const int64_t slot = FloorDiv(at_s, slot_s_);
  const auto size = static_cast<int64_t>(loads_.size());
  const auto put = [this](double value) {
    loads_[next_] = value;
    next_ = next_ + 1 == loads_.size() ? 0 : next_ + 1;
  };
  if (last_slot_ != INT64_MIN && slot <= last_slot_) {
    double& last = loads_[next_ == 0 ? loads_.size() - 1 : next_ - 1];
    last = std::max(last, load);
    return;
  }
  if (last_slot_ != INT64_MIN) {
    for (int64_t missing = std::min(slot - last_slot_ - 1, size); missing > 0; --missing) put(kAbsent);
  }
  put(load);
  last_slot_ = slot;
}

std::span<const double> SpanStatistics::Values() {
  for (size_t i = 0; i < spans_.size(); ++i) values_[i] = Value(spans_[i]);
  return values_;
}

double SpanStatistics::Value(const LoadSpan& span) {
  const auto slots = static_cast<size_t>((span.seconds + slot_s_ - 1) / slot_s_);
  // The last slots of the ring, as one or two contiguous pieces.
  const size_t second = std::min(slots, next_);
  const std::span<const double> pieces[] = {
      std::span(loads_).subspan(loads_.size() - (slots - second), slots - second),
      std::span(loads_).subspan(next_ - second, second)};
  double highest = 0, sum = 0;
  size_t n = 0;
  sorted_.clear();
  for (const std::span<const double> piece : pieces) {
    for (const double v : piece) {
      if (v < 0) continue;
      highest = std::max(highest, v);
      sum += v;
      ++n;
      if (span.statistic == SpanStatistic::kP95) sorted_.push_back(v);
    }
  }
  if (span.statistic == SpanStatistic::kMax) return highest;
  if (span.statistic == SpanStatistic::kMean) return n > 0 ? sum / static_cast<double>(n) : 0;
  if (n == 0) return 0;
  const auto rank = static_cast<ptrdiff_t>(CeilOf(0.95 * static_cast<double>(n))) - 1;
  std::nth_element(sorted_.begin(), sorted_.begin() + rank, sorted_.end());
  return sorted_[static_cast<size_t>(rank)];
}

void SpanStatistics::Save(ByteWriter& out) const {
  PutOptional(last_slot_ == INT64_MIN ? std::nullopt : std::optional(last_slot_), out);
  for (size_t i = 0; i < loads_.size(); ++i) out.Put(loads_[(next_ + i) % loads_.size()]);
}

void SpanStatistics::Load(StoredValues& in) {
  last_slot_ = in.OptionalStep().value_or(INT64_MIN);
  next_ = 0;
  for (double& v : loads_) {
    v = in.Finite();
    in.Require(v >= 0 || v == kAbsent);
  }
  in.Require(loads_.empty() || last_slot_ == INT64_MIN || loads_.back() >= 0);
}

size_t SpanStatistics::heap_bytes() const {
  return spans_.capacity() * sizeof(LoadSpan) +
         (loads_.capacity() + sorted_.capacity() + values_.capacity()) * sizeof(double);
}

}  // namespace taut::brain
