// Constants and functions for the tests of the gates.
#pragma once

#include <cstdint>

#include "brain/rollout/job_policy.h"
#include "common/base/time.h"

namespace taut::brain {

inline constexpr int64_t kMonday = 4 * kDaySeconds;  // 1970-01-05 00:00 UTC

inline JobPolicy In(Mode mode) {
  JobPolicy policy;
  policy.mode = mode;
  return policy;
}

}  // namespace taut::brain
