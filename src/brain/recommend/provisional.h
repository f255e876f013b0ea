// A provisional limit for a job with less history than its recommender requires. A provisional limit is shown and
// never set.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/base/time.h"
#include "common/model/usage.h"

namespace taut::brain {

struct ProvisionalLimit {
  double limit = 0;     // peak * factor; at most the owner's limit if the owner's limit covers the peak
  double peak = 0;      // highest usage of a task so far
  double factor = 1;    // multiple of the peak, at least 1
  int32_t windows = 0;  // number of windows measured so far
  // First window for which the recommender yields a limit, if the job is measured in all windows before.
  WindowId first_limit = {};
};

// Returns the factor by which the peak of `windows` windows is multiplied to cover a day: the square root of
// (windows of a day / `windows`). On real machines, the multiplied peak covered the day in 71 to 87 % of the
// starts, for any number of windows (docs/algorithms/vertical.md, "The first day").
inline double ProvisionalFactor(int32_t windows) {
  return windows >= kWindowsPerDay ? 1 : std::sqrt(double{kWindowsPerDay} / std::max(windows, 1));
}

}  // namespace taut::brain
