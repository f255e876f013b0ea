// Rounds real numbers of tasks up to whole numbers.
#pragma once

#include <algorithm>
#include <cmath>

namespace taut::brain {

// Returns `x` rounded up, but treats a relative excess of 1e-9 as rounding noise. Returns infinities and NaN
// unchanged.
inline double CeilOf(double x) {
  return std::isfinite(x) ? std::ceil(x - 1e-9 * std::max(1.0, std::fabs(x))) : x;
}

}  // namespace taut::brain
