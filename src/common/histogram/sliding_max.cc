// Implements the monotonic queue of SlidingMax.
#include "common/histogram/sliding_max.h"

#include <algorithm>

namespace taut {

void SlidingMax::Add(int32_t window, Bucket b) {
  // [first, last): entries at or before `window` whose bucket is not above `b`. The new value supersedes
  // them.
  auto last = entries_.end();
  while (last != entries_.begin() && (last - 1)->window() > window) --last;
  if (last != entries_.end() && last->bucket >= b) return;
  auto first = last;
  while (first != entries_.begin() && (first - 1)->bucket <= b) --first;
  if (first == last) {
    // An entry of the same window with a larger value already covers the new value.
    if (first != entries_.begin() && (first - 1)->window() == window) return;
    entries_.insert(first, Entry::Of(window, b));
    return;
  }
  *first = Entry::Of(window, b);
  entries_.erase(first + 1, last);
}

std::optional<Bucket> SlidingMax::Max(int32_t now_window, int32_t last_n_windows) const {
  const int64_t after = int64_t{now_window} - last_n_windows;
  const auto it = std::partition_point(entries_.begin(), entries_.end(),
                                       [&](const Entry& e) { return e.window() <= after; });
  if (it == entries_.end()) return std::nullopt;
  return it->bucket;
}

void SlidingMax::ForgetBefore(int32_t first_window) {
  const auto it = std::partition_point(entries_.begin(), entries_.end(),
                                       [&](const Entry& e) { return e.window() < first_window; });
  entries_.erase(entries_.begin(), it);
}

void SlidingMax::Save(ByteWriter& out) const {
  out.PutVarint(entries_.size());
  int64_t window = INT32_MIN;
  for (const Entry& e : entries_) {
    out.PutVarint(static_cast<uint64_t>(e.window() - window));
    out.PutVarint(e.bucket);
    window = e.window();
  }
}

absl::StatusOr<SlidingMax> SlidingMax::Load(ByteReader& in) {
  SlidingMax result;
  const uint64_t size = in.GetVarint();
  if (size > Grid::kMaxBuckets) return absl::DataLossError("sliding maximum with more entries than buckets");
  result.entries_.reserve(size);
  int64_t window = INT32_MIN;
  for (uint64_t i = 0; i < size; ++i) {
    const uint64_t step = in.GetVarint();
    const uint64_t bucket = in.GetVarint();
    if (in.failed()) break;
    const bool ascending = (i == 0 || step > 0) && step <= static_cast<uint64_t>(INT32_MAX - window);
    const bool descending = bucket < (i == 0 ? uint64_t{Grid::kMaxBuckets} : result.entries_.back().bucket);
    if (!ascending || !descending) return absl::DataLossError("sliding maximum out of order");
    window += static_cast<int64_t>(step);
    result.entries_.push_back(Entry::Of(static_cast<int32_t>(window), static_cast<Bucket>(bucket)));
  }
  if (absl::Status s = in.status("a sliding maximum"); !s.ok()) return s;
  return result;
}

}  // namespace taut
