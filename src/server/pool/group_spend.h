// Computes the spending of groups with budgets from the daemon's account.
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

inline constexpr const char* kNoGroup = "(none)";  // name for jobs without a group

struct GroupDays {
  std::vector<brain::GroupDay> days;  // spending, one element per group and day
  // start of the account's first entry, Unix time; absent if there is none
  std::optional<int64_t> first_s;
};

// Reads the spending in the account of [from_s, to_s) by whole days; the newest day may be incomplete. A window's
// spending is the larger of usage and allocation, at the accounts' prices of its day. The spending of a job
// belongs to its group if that has a budget, else to the nearest ancestor with a budget. The spending of a job
// without a record belongs to kNoGroup. O(account), with one read of the store per forgotten job.
absl::StatusOr<GroupDays> ReadGroupDays(History& history, const FleetView& view, const GroupScheme& scheme,
                                        const brain::BudgetAccounts& accounts, int64_t from_s, int64_t to_s);

}  // namespace taut::server
