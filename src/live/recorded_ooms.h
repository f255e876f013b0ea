// Stored OOM kills of a job, handed to a lane in the order in which they were lived: each before the window
// closes that it was in.
#pragma once

#include <algorithm>
#include <span>

#include "engine/lane.h"
#include "model/rollout.h"

namespace taut {

class RecordedOoms {
 public:
  // Ascending by time; they must outlive it.
  explicit RecordedOoms(std::span<const OomRecord> ooms) : ooms_(ooms) {}

  // The next of before `end_s`; each comes once.
  std::span<const OomRecord> Before(int64_t end_s) {
    const auto end =
        std::find_if(ooms_.begin(), ooms_.end(), [&](const OomRecord& o) { return o.time_s >= end_s; });
    const auto n = static_cast<size_t>(end - ooms_.begin());
    const std::span<const OomRecord> next = ooms_.first(n);
    ooms_ = ooms_.subspan(n);
    return next;
  }

 private:
  std::span<const OomRecord> ooms_;
};

// Takes kills into a lane that has started `day` and whose newest window is `last` (index INT32_MIN: none).
// `peak` stands for a limit that nobody knows.
inline void TakeRecorded(std::span<const OomRecord> ooms, int32_t day, WindowId last, double peak,
                         Lane& lane) {
  for (const OomRecord& oom : ooms) {
    WindowId window = WindowId::Of(Timestamp::FromSeconds(oom.time_s));
    if (last.index != INT32_MIN) window = std::clamp(window, last, last.next());
    window = std::max(window, WindowId{day * kWindowsPerDay});
    lane.Oom({window, oom.task, oom.limit.value_or(peak)});
  }
}

}  // namespace taut
