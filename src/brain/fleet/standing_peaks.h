// The peaks that kernels keep of a job's tasks just now. A kernel's peak does not fall: one that stood before a
// restart is met again after it, and is not of a later time for that.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "common/base/bytes.h"

namespace taut::brain {

class StandingPeaks {
 public:
  static constexpr size_t kMost = 32;  // the highest of a job: lower ones bound no cut

  // Replaces the peaks by those of now, in any order.
  void Set(std::span<const float> peaks) { now_ = Highest({peaks.begin(), peaks.end()}); }
  // Whether a task met first since a restart stood at this peak before it. Each counts once.
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
  // False: no Save wrote it.
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

  std::vector<float> now_, before_;  // `before_`: of before a restart, and not met since
};

}  // namespace taut::brain
