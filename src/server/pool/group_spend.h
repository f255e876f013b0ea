// Spending of the groups with budgets, from the daemon's account.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/economy/budget_accounts.h"
#include "brain/economy/budget_spending.h"
#include "server/control/fleet_view.h"
#include "server/pool/group_scheme.h"
#include "server/store/store.h"

namespace taut::server {

inline constexpr const char* kNoGroup = "(none)";  // jobs without a group

struct GroupDays {
  std::vector<brain::GroupDay> days;  // one per group and day
  std::optional<int64_t> first_s;     // start of the account's first entry; absent if there is none
};

// Reads the account of [from_s, to_s) in whole days; the newest day may be incomplete. Each window counts the
// larger of usage and allocation, at the accounts' prices of the day. A job counts for the nearest group at
// or above its own that has a budget; a job without a record for kNoGroup. O(account), and one read of the
// store per forgotten job.
absl::StatusOr<GroupDays> ReadGroupDays(History& history, const FleetView& view, const GroupScheme& scheme,
                                        const brain::BudgetAccounts& accounts, int64_t from_s, int64_t to_s);

}  // namespace taut::server
