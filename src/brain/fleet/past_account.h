// The account of windows that were read from history after others were counted.
#pragma once

#include <span>

#include "common/model/account.h"

namespace taut::brain {

// Of the windows of the day up to `through` that are not in `counted` (ascending): usage, and as what the tasks
// had the owner's request, or the limit without one. An entry without windows if there are none.
LateAccount PastAccount(const JobDay& day, WindowId through, std::span<const WindowId> counted);

}  // namespace taut::brain
