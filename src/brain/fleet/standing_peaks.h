// Memory peaks that kernels keep for a job's tasks. A kernel's peak never falls. After a restart of tautd a
// kernel reports a peak from before the restart again, which must not count as a new peak.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "common/base/bytes.h"

namespace taut::brain {

// Stores at most kMost peaks, in bytes. The peaks are saved, so that they can be recognised after a restart.
class StandingPeaks {
 public:
  static constexpr size_t kMost = 32;  // number of stored peaks; lower peaks restrict no decision

  // Replaces the current peaks; `peaks` may be in any order.
  void Set(std::span<const float> peaks) { now_ = Highest({peaks.begin(), peaks.end()}); }
  // Returns true if the saved peaks contain this peak of a task that was first seen after a restart. Each saved
  // peak matches once.
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
  // Reads the bytes that Save wrote. Returns false if Save cannot have written the bytes.
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

  std::vector<float> now_, before_;  // before_: peaks saved before a restart and not matched since
};

}  // namespace taut::brain
