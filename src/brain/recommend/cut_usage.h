// Recognises usage that a limit cut, so that the need was higher than the usage.
#pragma once

#include <algorithm>

#include "common/model/signal.h"

namespace taut::brain {

// Share of throttled periods from which a window counts as above its limit, although the window's mean usage was
// below the limit.
inline constexpr double kThrottledShare = 0.01;

// Returns true if usage of a task is at the limit that capped it. Usage close to the limit was not cut if the
// share of throttled periods is known to be small.
inline bool IsAtLimit(const Signal& signal, double usage) {
  constexpr double kAtLimit = 0.97;  // share of the limit
  return signal.cut_at.has_value() && usage >= kAtLimit * *signal.cut_at &&
         signal.throttled.value_or(1) >= kThrottledShare;
}

// Returns the share of throttled periods, in [0, 1]; 0 if no limit affected the usage.
inline double ThrottledShare(const Signal& signal) {
  return signal.cut_at.has_value() ? std::clamp(signal.throttled.value_or(0), 0.0, 1.0) : 0;
}

// Returns the share of throttled periods of the tasks that are not at the limit, if the tasks at the limit were
// throttled in all periods.
inline double ThrottledShareBelow(const Signal& signal) {
  const double throttled = ThrottledShare(signal);
  if (throttled <= 0) return 0;
  const auto at_limit =
      std::ranges::count_if(signal.tasks, [&](const TaskUsage& t) { return IsAtLimit(signal, t.peak); });
  const double below = static_cast<double>(signal.tasks.size()) - static_cast<double>(at_limit);
  if (below <= 0) return 0;
  const double all = throttled * static_cast<double>(signal.tasks.size());
  return std::max(0.0, all - static_cast<double>(at_limit)) / below;
}

// Returns true if a limit cut the window's highest usage.
inline bool IsCut(const Signal& signal) {
  return IsAtLimit(signal, signal.peak) || ThrottledShare(signal) >= kThrottledShare;
}

// Task-windows at the limit since the last window in which no task was at the limit.
struct CutRun {
  float windows = 0;
  float limits = 0;  // sum of the limits in these task-windows
  float over = 0;    // work that was counted as above these limits

  // Adds the tasks at their limit, each with `assumed_over` as the work counted above `limit`. Returns true if
  // there is such a task.
  bool Take(const Signal& signal, double limit, double assumed_over) {
    bool cut = false;
    for (const TaskUsage& t : signal.tasks) {
      if (!IsAtLimit(signal, t.peak)) continue;
      cut = true;
      Add(limit, assumed_over);
    }
    return cut;
  }
  void Add(double limit, double assumed_over) {
    windows += 1;
    limits += static_cast<float>(limit);
    over += static_cast<float>(assumed_over);
  }
  // Returns the work above the limits, less the counted work, if the need was the later usage `peak`. In the first
  // window the tasks had this need for a share of the window only. `counted` is the part of `over` that was
  // counted. A peak below the limits proves nothing: returns 0. REQUIRES: windows > 0.
  float Correction(double peak, float share_of_first = 1, float counted = 1) const {
    const float shown = windows * static_cast<float>(peak) - limits;
    return shown > 0 ? shown * (windows - 1 + share_of_first) / windows - counted * over : 0;
  }
};

}  // namespace taut::brain
