// Recognises usage that a limit cut, so that the need was higher than the usage.
#pragma once

#include <algorithm>

#include "common/model/signal.h"

namespace taut::brain {

// Share of throttled periods from which a window counts as above its limit, although the window's mean usage was
// below the limit.
inline constexpr double kThrottledShare = 0.01;

// Returns true if usage of a task is at the limit that capped it.
inline bool IsAtLimit(const Signal& signal, double usage) {
  constexpr double kAtLimit = 0.97;  // share of the limit
  return signal.cut_at.has_value() && usage >= kAtLimit * *signal.cut_at;
}

// Returns the share of throttled periods, in [0, 1]; 0 if no limit affected the usage.
inline double ThrottledShare(const Signal& signal) {
  return signal.cut_at.has_value() ? std::clamp(signal.throttled.value_or(0), 0.0, 1.0) : 0;
}

// Returns true if a limit cut the window's highest usage.
inline bool IsCut(const Signal& signal) {
  return IsAtLimit(signal, signal.peak) || ThrottledShare(signal) >= kThrottledShare;
}

}  // namespace taut::brain
