// For tests that repeat the same: how often. TAUT_TEST_SCALE multiplies it (1 where it is not set); the parts of
// ./dev test with sanitizers take less.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace taut {

// Ends the process if TAUT_TEST_SCALE is not a number above 0.
inline double TestScale() {
  const char* text = std::getenv("TAUT_TEST_SCALE");
  if (text == nullptr) return 1;
  char* end = nullptr;
  const double scale = std::strtod(text, &end);
  if (end == text || *end != '\0' || !std::isfinite(scale) || scale <= 0) {
    std::fprintf(stderr, "TAUT_TEST_SCALE is \"%s\": a number above 0 is expected\n", text);
    std::exit(2);
  }
  return scale;
}

// `times` times TestScale(), rounded; at least 1.
inline int Scaled(int times) { return std::max(1, static_cast<int>(std::lround(times * TestScale()))); }

// As Scaled, but at most `times`: for tests that are of a certain length, or whose time grows with its square.
inline int Shortened(int times) { return std::min(times, Scaled(times)); }

}  // namespace taut
