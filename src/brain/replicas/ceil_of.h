// Whole numbers of tasks from real ones.
#pragma once

#include <algorithm>
#include <cmath>

namespace taut::brain {

// What is a whole number but for rounding is that number; what is not finite stays as it is.
inline double CeilOf(double x) {
  return std::isfinite(x) ? std::ceil(x - 1e-9 * std::max(1.0, std::fabs(x))) : x;
}

}  // namespace taut::brain
