// Checks of figures in checkpoints. The checks are required because bytes with a valid checksum may still come
// from another program.
#pragma once

#include <cmath>
#include <cstdint>

namespace taut::brain {

// Bound on windows, about 10,000 years from the epoch, so that differences do not overflow.
inline constexpr int32_t kMaxStoredWindow = 1 << 30;
inline bool IsStoredWindow(int32_t index) { return index >= -kMaxStoredWindow && index <= kMaxStoredWindow; }
inline bool IsStoredDay(int32_t day) {
  return day >= -kMaxStoredWindow / 288 && day <= kMaxStoredWindow / 288;
}

// Returns true for a possible usage, limit, weight or cost: finite and not negative.
inline bool IsStoredAmount(double v) { return v >= 0 && std::isfinite(v); }

}  // namespace taut::brain
