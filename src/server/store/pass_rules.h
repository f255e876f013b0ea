// Rules that every store applies: checks of a pass, and retention.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "server/store/store.h"

namespace taut::server {

struct Retention {
  int32_t history_days = 30;   // usage: full days before today
  int32_t decision_days = 90;  // decisions, OOM kills, tier acts, replaced settings, fleet points
  // The present is the newest window for which this number of stored windows are not earlier. So windows that
  // a wrong clock dated into the future delete nothing, unless there is a day of them. 0: the present is the
  // argument of Maintain.
  int32_t windows_to_believe = kWindowsPerDay;
};

// First day of usage, and first second of everything else, that is kept if `now` is the newest window.
inline int32_t FirstDayKept(const Retention& keep, WindowId now) { return now.day() - keep.history_days; }
inline int64_t FirstSecondKept(const Retention& keep, WindowId now) {
  return (int64_t{now.day()} - keep.decision_days) * kDaySeconds;
}

// Last of each that was ever stored, whether it is still kept or not.
struct PassEnds {
  std::optional<WindowId> window;
  std::optional<uint32_t> job;
  uint64_t decision = 0, setting = 0;
};

// Checks a pass against the last one. AlreadyExists: its window is not later than the last. InvalidArgument:
// numbers of jobs, decisions or settings are not ascending and above the last, or a window's jobs are not
// ascending.
absl::Status CheckPass(const PassRecord& pass, const PassEnds& ends);
// Returns `ends` after `pass`.
PassEnds EndsAfter(const PassRecord& pass, PassEnds ends);

}  // namespace taut::server
