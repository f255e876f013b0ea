// Rules that every store applies: checks of a pass, and retention of data.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "server/store/store.h"

namespace taut::server {

struct Retention {
  int32_t history_days = 30;  // retention of usage: full days before today
  // Retention of decisions, OOM kills, tier acts, replaced settings and fleet points.
  int32_t decision_days = 90;
  // Retention counts from the n-th newest stored window, where n is windows_to_believe. Windows that a wrong clock
  // dates into the future therefore delete nothing until they fill a day. Nothing is deleted while fewer windows
  // are stored. 0: retention counts from the argument of Maintain.
  int32_t windows_to_believe = kWindowsPerDay;
};

// FirstDayKept returns the first day of usage that is retained if `now` is the newest window. FirstSecondKept
// returns the first second of all other retained data.
inline int32_t FirstDayKept(const Retention& keep, WindowId now) { return now.day() - keep.history_days; }
inline int64_t FirstSecondKept(const Retention& keep, WindowId now) {
  return (int64_t{now.day()} - keep.decision_days) * kDaySeconds;
}

// Last window, and highest numbers of jobs, decisions and settings, that were ever stored, including deleted data.
struct PassEnds {
  std::optional<WindowId> window;
  std::optional<uint32_t> job;
  uint64_t decision = 0, setting = 0;
};

// Checks a pass against the last stored pass. Returns AlreadyExists if the window is not later than the last
// window. Returns InvalidArgument if numbers of jobs, decisions or settings are not ascending or not above the
// numbers in `ends`, or a window's jobs are not ascending.
absl::Status CheckPass(const PassRecord& pass, const PassEnds& ends);
// Returns the ends after `pass` is stored.
PassEnds EndsAfter(const PassRecord& pass, PassEnds ends);

}  // namespace taut::server
