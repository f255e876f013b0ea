// What a checkpoint's figures may be: bytes that pass a checksum may still come from another program.
#pragma once

#include <cmath>
#include <cstdint>

namespace taut::brain {

// Windows within 10,000 years of the epoch, so that no difference of two overflows.
inline constexpr int32_t kMaxStoredWindow = 1 << 30;
inline bool IsStoredWindow(int32_t index) { return index >= -kMaxStoredWindow && index <= kMaxStoredWindow; }
inline bool IsStoredDay(int32_t day) {
  return day >= -kMaxStoredWindow / 288 && day <= kMaxStoredWindow / 288;
}

// Usage, limits, weights, costs: finite and not negative.
inline bool IsStoredAmount(double v) { return v >= 0 && std::isfinite(v); }

}  // namespace taut::brain
