// Accounts of windows that are read from history after later windows were accounted.
#pragma once

#include <span>

#include "common/model/account.h"

namespace taut::brain {

// Returns the account of the windows of the day up to `through` that are not in `counted` (ascending). The account
// contains the usage. Its allocation is the owner's request, or the owner's limit if there is no request. If no
// window remains, the account has 0 windows.
LateAccount PastAccount(const JobDay& day, WindowId through, std::span<const WindowId> counted);

}  // namespace taut::brain
