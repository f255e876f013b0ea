// Which groups may start nothing new, because what pays for them is spent.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "brain/economy/budget_accounts.h"
#include "brain/economy/budget_definition.h"
#include "brain/economy/budget_spending.h"

namespace taut::brain {

// By group: why, in sentences without amounts, which not everybody of the group may see.
using GroupHolds = std::map<std::string, std::string, std::less<>>;

// The groups with WhenSpent::kRefuse whose own money is spent or frozen, and of whose businesses one has nothing
// left for the open period, or is frozen; also those that no business pays for. `spent`: of the open period, so
// far. None while no period is open. O(groups * their businesses * log n).
GroupHolds HeldGroups(const BudgetDefinition& definition, const BudgetAccounts& accounts,
                      const SpentByHolder& spent, int64_t now_s);

}  // namespace taut::brain
