// For tests that repeat the same: how often. TAUT_TEST_SCALE multiplies it (1 where it is not set); the parts of
// ./dev test with sanitizers take less.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace taut {

inline double TestScale() {
  const char* scale = std::getenv("TAUT_TEST_SCALE");
  return scale == nullptr ? 1 : std::atof(scale);
}

// `times` times TestScale(), rounded; at least 1.
inline int Scaled(int times) { return std::max(1, static_cast<int>(std::lround(times * TestScale()))); }

}  // namespace taut
