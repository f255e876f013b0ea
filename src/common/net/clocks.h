// The clocks of this machine, for programs and their components. Calculations receive the time as an argument
// instead.
#pragma once

#include <chrono>

#include "common/base/time.h"

namespace taut {

// Returns the time of the machine's clock, which may jump.
inline Timestamp WallNow() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::microseconds>(since).count()};
}

// Returns the seconds of a clock that never jumps, counted from an arbitrary start.
inline double SteadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace taut
