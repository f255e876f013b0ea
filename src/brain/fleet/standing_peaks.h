// Memory peaks that kernels keep for a job's tasks. A kernel's peak never falls: a peak from before a restart of
// tautd is reported again after the restart, but is not a new peak.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "common/base/bytes.h"

namespace taut::brain {

// Holds at most kMost peaks, in bytes. The peaks are saved, so that they can be recognised after a restart.
class StandingPeaks {
 public:
  static constexpr size_t kMost = 32;  // only the highest peaks matter, because lower peaks bound no cut

  // Replaces the current peaks. `peaks` may have any order.
  void Set(std::span<const float> peaks) { now_ = Highest({peaks.begin(), peaks.end()}); }
  // Returns true if a task that was first seen after a restart had this peak before the restart. Each saved peak
  // matches once.
  bool Meet(float peak) {
    const auto known = std::ranges::find(before_, peak);
    if (known == before_.end()) return false;
    before_.erase(known);
    return true;
  }
  bool empty() const { return now_.empty() && before_.empty(); }

  void Save(ByteWriter& out) const {
    std::vector<float> all = before_;
    all.insert(all.end(), now_.begin(), now_.end());
    all = Highest(std::move(all));
    out.Put(static_cast<uint8_t>(all.size()));
    for (const float peak : all) out.Put(peak);
  }
  // Returns false if Save cannot have written the bytes.
  bool Load(ByteReader& in) {
    const auto saved = in.Get<uint8_t>();
    if (saved > kMost) return false;
    before_.resize(saved);
    for (float& peak : before_) peak = in.Get<float>();
    return true;
  }

 private:
  static std::vector<float> Highest(std::vector<float> peaks) {
    std::ranges::sort(peaks, std::greater());
    if (peaks.size() > kMost) peaks.resize(kMost);
    return peaks;
  }

  std::vector<float> now_, before_;  // before_: saved before a restart and not matched since
};

}  // namespace taut::brain
