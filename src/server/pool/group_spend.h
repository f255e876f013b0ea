// Computes the spending of groups with budgets from the daemon's account.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
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

// The group of the jobs with a value of a label. A job belongs to every label group with one of its labels, in
// addition to its group of the quota.
struct LabelGroup {
  std::string name;
  std::string label, value;  // label and its value; "": all jobs

  bool Has(const JobRecord& job) const {
    return label.empty() || std::ranges::find(job.labels, Label{label, value}) != job.labels.end();
  }
};

// Data that assign the spending of a job to groups. All objects must outlive the call of ReadGroupDays().
struct SpendingRules {
  const GroupScheme* scheme = nullptr;  // scheme of the quota's groups; null: jobs have no group of the quota
  std::span<const LabelGroup> labels;
  const brain::BudgetAccounts& accounts;
};

struct GroupDays {
  std::vector<brain::GroupDay> days;  // spending, one element per group and day
  // start of the account's first entry, Unix time; absent if there is none
  std::optional<int64_t> first_s;
};

// Reads the spending in the account of [from_s, to_s) by whole days; the newest day may be incomplete. The
// spending of a window is the larger of usage and allocation, at the accounts' prices of its day. A job's
// spending belongs to the nearest group, at or above the job's group, that has a budget, and to the job's label
// groups. Totals count the spending once: in the nearest group or, without a scheme, in the first label group. The
// spending of a job without a group, or without a record, belongs to kNoGroup. O(account), and one read of the
// store per forgotten job.
absl::StatusOr<GroupDays> ReadGroupDays(History& history, const FleetView& view, const SpendingRules& rules,
                                        int64_t from_s, int64_t to_s);

}  // namespace taut::server
