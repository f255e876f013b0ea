// The highest amount in each of the last kSlices time slices. The caller chooses the length of a slice, which
// must not change.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/base/bytes.h"
#include "common/model/usage.h"

namespace taut::brain {

// Highest amount per slice, in fixed memory; amounts are stored as floats.
class RecentPeaks {
 public:
  static constexpr int kSlices = 8;  // number of slices that are kept, including the current slice

  // Records an amount; ignores slices that are kSlices or more before the newest slice.
  void Note(int32_t slice, double amount) {
    if (newest_ != INT32_MIN && slice <= newest_ - kSlices) return;
    for (int32_t d = std::max(newest_, slice - kSlices) + 1; newest_ != INT32_MIN && d <= slice; ++d)
      Place(d) = kAbsent;
    newest_ = std::max(newest_, slice);
    Place(slice) = std::max(Place(slice), static_cast<float>(amount));
  }
  // Returns the highest amount in the last kSlices slices up to `slice`; absent: none.
  std::optional<double> Highest(int32_t slice) const {
    float highest = kAbsent;
    for (int32_t d = std::max(slice, newest_) - kSlices + 1; newest_ != INT32_MIN && d <= newest_; ++d)
      highest = std::max(highest, peaks_[Index(d)]);
    return highest >= 0 ? std::optional<double>(highest) : std::nullopt;
  }
  bool empty() const { return newest_ == INT32_MIN; }

  void Save(ByteWriter& out) const {
    out.Put(newest_);
    for (const float peak : peaks_) out.Put(peak);
  }
  void Load(ByteReader& in) {
    newest_ = in.Get<int32_t>();
    for (float& peak : peaks_) peak = in.Get<float>();
    constexpr int32_t kMost = 1'000'000'000;  // number of slices of 3 s in a hundred years
    if (newest_ != INT32_MIN && (newest_ > kMost || newest_ < -kMost)) *this = RecentPeaks();
  }

 private:
  static size_t Index(int32_t slice) { return static_cast<size_t>((slice % kSlices + kSlices) % kSlices); }
  float& Place(int32_t slice) { return peaks_[Index(slice)]; }

  int32_t newest_ = INT32_MIN;
  std::array<float, kSlices> peaks_ = {kAbsent, kAbsent, kAbsent, kAbsent,
                                       kAbsent, kAbsent, kAbsent, kAbsent};
};

}  // namespace taut::brain
