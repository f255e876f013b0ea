// Finds the groups that may not start new tasks, because the money that pays for them is spent.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "brain/economy/budget_accounts.h"
#include "brain/economy/budget_definition.h"
#include "brain/economy/budget_spending.h"

namespace taut::brain {

// Reasons by group, as sentences. A sentence contains no amounts, because not all members of the group may see
// them.
using GroupHolds = std::map<std::string, std::string, std::less<>>;

// Returns the groups with WhenSpent::kRefuse that have no money. Such a group's own money is spent or frozen. In
// addition, no business pays for the group, or at least one of its businesses is frozen or has no money left for
// the open period. `spent` is the spending in the open period so far. Empty while no period is open. O(groups *
// their businesses * log n).
GroupHolds HeldGroups(const BudgetDefinition& definition, const BudgetAccounts& accounts,
                      const SpentByHolder& spent, int64_t now_s);

}  // namespace taut::brain
