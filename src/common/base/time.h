// Time as the whole project counts it: microseconds of the source's own clock, cut into 5-minute
// windows and UTC-style days (multiples of 86,400 s of that clock).
//
// Nothing here reads a clock: time is an argument everywhere below programs/.
#pragma once

#include <compare>
#include <cstdint>

namespace taut {

inline constexpr int64_t kWindowSeconds = 300;
inline constexpr int64_t kDaySeconds = 86'400;
inline constexpr int64_t kMicrosPerSecond = 1'000'000;
inline constexpr int32_t kWindowsPerHour = 12;
inline constexpr int32_t kWindowsPerDay = 288;

// An instant of the trace's or the wall clock. For live data the epoch is Unix's; a trace keeps its own.
struct Timestamp {
  int64_t us = 0;

  static constexpr Timestamp FromSeconds(int64_t s) { return {s * kMicrosPerSecond}; }
  // Rounds down, also below the epoch.
  constexpr int64_t seconds() const {
    return us / kMicrosPerSecond - (us % kMicrosPerSecond < 0 ? 1 : 0);  // `/` rounds to 0
  }
  auto operator<=>(const Timestamp&) const = default;
};

// REQUIRES: b > 0.
constexpr int64_t FloorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

// The half-open interval [index * 300 s, (index + 1) * 300 s).
struct WindowId {
  int32_t index = 0;

  static constexpr WindowId Of(Timestamp t) {
    return {static_cast<int32_t>(FloorDiv(t.us, kWindowSeconds * kMicrosPerSecond))};
  }
  constexpr int64_t start_s() const { return int64_t{index} * kWindowSeconds; }
  constexpr int32_t day() const { return static_cast<int32_t>(FloorDiv(index, kWindowsPerDay)); }
  constexpr WindowId next() const { return {index + 1}; }
  auto operator<=>(const WindowId&) const = default;
};

}  // namespace taut
