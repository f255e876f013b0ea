// What the groups of budgets spend, from the daemon's account.
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

inline constexpr const char* kNoGroup = "(none)";  // of jobs that no rule gives a group

struct GroupDays {
  std::vector<brain::GroupDay> days;  // by group and day
  std::optional<int64_t> first_s;     // when the first entry of the account begins; absent: there is none
};

// Of the account of [from_s, to_s), in whole days and, of the newest day, as far as it goes: of each window
// the larger of usage and allocation, at the accounts' prices of the day. A job's group is that of the scheme,
// and counts for the nearest group at or above it that the accounts has; a job whose record is gone is of
// kNoGroup. O(account), and a read of the store for each forgotten job.
absl::StatusOr<GroupDays> ReadGroupDays(History& history, const FleetView& view, const GroupScheme& scheme,
                                        const brain::BudgetAccounts& accounts, int64_t from_s, int64_t to_s);

}  // namespace taut::server
