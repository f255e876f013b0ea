// Accounts of windows that were read from history after other windows were counted.
#pragma once

#include <span>

#include "common/model/account.h"

namespace taut::brain {

// Returns the account of the windows of the day up to `through` that are not in `counted` (ascending). The account
// has the usage, and as allocation the owner's request, or the owner's limit without a request. If there are no
// such windows, the entry has 0 windows.
LateAccount PastAccount(const JobDay& day, WindowId through, std::span<const WindowId> counted);

}  // namespace taut::brain
