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
  std::optional<int64_t> first_s;     // start of the account's first entry; absent without entries
};

// Reads the spending in the account of [from_s, to_s) by whole days; the newest day may be incomplete. The
// spending of a window is the larger of usage and allocation, at the accounts' prices of its day. A job's
// spending belongs to the nearest group, at or above the job's group, that has a budget. The spending of a
// job without a record belongs to kNoGroup. O(account), and one read of the store per forgotten job.
absl::StatusOr<GroupDays> ReadGroupDays(History& history, const FleetView& view, const GroupScheme& scheme,
                                        const brain::BudgetAccounts& accounts, int64_t from_s, int64_t to_s);

}  // namespace taut::server
