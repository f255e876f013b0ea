// Time in this project: microseconds of the source's own clock, divided into 5-minute windows and into days
// of 86,400 s, which for Unix time are UTC days.
//
// No function here reads a clock: outside programs/, functions receive the time as an argument.
#pragma once

#include <compare>
#include <cstdint>

namespace taut {

inline constexpr int64_t kWindowSeconds = 300;
inline constexpr int64_t kDaySeconds = 86'400;
inline constexpr int64_t kMicrosPerSecond = 1'000'000;
inline constexpr int32_t kWindowsPerHour = 12;
inline constexpr int32_t kWindowsPerDay = 288;

// An instant, in microseconds since the epoch. Live data uses the Unix epoch; a trace keeps its own epoch.
struct Timestamp {
  int64_t us = 0;

  static constexpr Timestamp FromSeconds(int64_t s) { return {s * kMicrosPerSecond}; }
  // Rounds down, also below the epoch.
  constexpr int64_t seconds() const {
    return us / kMicrosPerSecond - (us % kMicrosPerSecond < 0 ? 1 : 0);  // `/` rounds towards 0
  }
  auto operator<=>(const Timestamp&) const = default;
};

// Returns a / b rounded down. REQUIRES: b > 0.
constexpr int64_t FloorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

// A window: the half-open interval [index * 300 s, (index + 1) * 300 s).
struct WindowId {
  int32_t index = 0;

  // Returns the window that contains `t`.
  static constexpr WindowId Of(Timestamp t) {
    return {static_cast<int32_t>(FloorDiv(t.us, kWindowSeconds * kMicrosPerSecond))};
  }
  constexpr int64_t start_s() const { return int64_t{index} * kWindowSeconds; }
  constexpr int32_t day() const { return static_cast<int32_t>(FloorDiv(index, kWindowsPerDay)); }
  constexpr WindowId next() const { return {index + 1}; }
  auto operator<=>(const WindowId&) const = default;
};

}  // namespace taut
