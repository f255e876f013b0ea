// Groups that may not start anything new because the money that pays for them is spent.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "brain/economy/budget_accounts.h"
#include "brain/economy/budget_definition.h"
#include "brain/economy/budget_spending.h"

namespace taut::brain {

// Reasons by group, in sentences without amounts, which not all members of the group may see.
using GroupHolds = std::map<std::string, std::string, std::less<>>;

// Returns the groups with WhenSpent::kRefuse that are out of money. Their own money is spent or frozen, and
// either no business pays for them or one of their businesses is frozen or has nothing left for the open
// period. `spent`: in the open period so far. Empty while no period is open. O(groups * their businesses *
// log n).
GroupHolds HeldGroups(const BudgetDefinition& definition, const BudgetAccounts& accounts,
                      const SpentByHolder& spent, int64_t now_s);

}  // namespace taut::brain
