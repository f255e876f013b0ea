// The exact maximum over the last N windows, for any N.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/bytes.h"
#include "common/histogram/grid.h"

namespace taut {

// A monotonic queue: a value that a later value equals or exceeds cannot become a maximum again and is dropped.
// Stores at most one entry (6 bytes) per distinct bucket, regardless of the number of windows. Not thread-safe.
class SlidingMax {
 public:
  // Adds a value. Windows may be in any order and repeat. O(1) amortised in ascending order, else O(entries).
  void Add(int32_t window, Bucket b);
  // Returns the largest value of the windows in (now_window - last_n_windows, now_window]; nullopt if these
  // windows have no value. REQUIRES: no value was added for a window after now_window. O(log entries).
  std::optional<Bucket> Max(int32_t now_window, int32_t last_n_windows) const;
  // Drops entries of windows before first_window.
  void ForgetBefore(int32_t first_window);

  size_t size() const { return entries_.size(); }
  size_t state_bytes() const { return sizeof(*this) + entries_.capacity() * sizeof(Entry); }

  void Save(ByteWriter& out) const;
  // Returns the queue that Save wrote; DataLoss for bytes that Save cannot have written.
  static absl::StatusOr<SlidingMax> Load(ByteReader& in);

 private:
  struct Entry {
    uint16_t window_low, window_high;  // halves of the window's index: without padding, an entry has 6 bytes
    Bucket bucket;

    static Entry Of(int32_t window, Bucket b) {
      const auto bits = static_cast<uint32_t>(window);
      return {static_cast<uint16_t>(bits), static_cast<uint16_t>(bits >> 16), b};
    }
    int32_t window() const { return static_cast<int32_t>(uint32_t{window_high} << 16 | window_low); }
  };
  static_assert(sizeof(Entry) == 6);

  std::vector<Entry> entries_;  // windows strictly ascending, buckets strictly descending
};

}  // namespace taut
