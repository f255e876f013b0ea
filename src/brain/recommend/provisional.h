// A limit before there is the history that its recommender asks for. It is shown and never set.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/base/time.h"
#include "common/model/usage.h"

namespace taut::brain {

struct ProvisionalLimit {
  double limit = 0;     // the peak times the factor, but not above an owner's limit that holds the peak
  double peak = 0;      // highest usage of a task so far
  double factor = 1;    // ProvisionalFactor(windows)
  int32_t windows = 0;  // measured so far
  // The first window for which the recommender gives a limit, if the job is measured until then.
  WindowId first_limit = {};
};

// The peak of `windows` windows times this factor holds for a day: the root of a day's windows over these. On real
// machines the day stayed within it in 71 to 87 % of the starts, whether few or many windows were seen
// (docs/algorithms/vertical.md, "The first day").
inline double ProvisionalFactor(int32_t windows) {
  return windows >= kWindowsPerDay ? 1 : std::sqrt(double{kWindowsPerDay} / std::max(windows, 1));
}

}  // namespace taut::brain
