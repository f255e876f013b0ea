// What every store holds a pass against, and how long it keeps what: in one place, so that they agree.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "server/store/store.h"

namespace taut::server {

struct Retention {
  int32_t history_days = 30;   // usage: full days before today
  int32_t decision_days = 90;  // decisions, OOM kills, tier acts, replaced settings, the fleet's figures
  // Time is what the windows say: it is so late as this many of those stored are not earlier. So windows that
  // a wrong clock puts into the future forget nothing, unless there is a day of them. 0: it is as late as
  // Maintain is called.
  int32_t windows_to_believe = kWindowsPerDay;
};

// The first day of usage, and the second of everything else, that is still kept when `now` is the newest
// window.
inline int32_t FirstDayKept(const Retention& keep, WindowId now) { return now.day() - keep.history_days; }
inline int64_t FirstSecondKept(const Retention& keep, WindowId now) {
  return (int64_t{now.day()} - keep.decision_days) * kDaySeconds;
}

// The last of each that was ever taken in, kept or not.
struct PassEnds {
  std::optional<WindowId> window;
  std::optional<uint32_t> job;
  uint64_t decision = 0, setting = 0;
};

// AlreadyExists: the window is not later than the last. InvalidArgument: the numbers of jobs, decisions or
// settings are not above the last and ascending, or a window's jobs are not.
absl::Status CheckPass(const PassRecord& pass, const PassEnds& ends);
// `ends` after `pass`.
PassEnds EndsAfter(const PassRecord& pass, PassEnds ends);

}  // namespace taut::server
