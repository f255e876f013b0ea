// Scales the number of repetitions in tests. The environment variable TAUT_TEST_SCALE is the factor; 1 if the
// variable is not set. ./dev test lowers the factor for builds with sanitizers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace taut {

// Returns the factor. Ends the process if TAUT_TEST_SCALE is not a number above 0.
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

// Returns `times` multiplied by TestScale(), rounded; at least 1.
inline int Scaled(int times) { return std::max(1, static_cast<int>(std::lround(times * TestScale()))); }

// Returns Scaled(times), but at most `times`: for tests of a fixed length, or of a run time that grows with the
// square of their length.
inline int Shortened(int times) { return std::min(times, Scaled(times)); }

}  // namespace taut
