// Rows of a quota tree for display, one row for each group, tier and resource.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "brain/economy/quota_tree.h"

namespace taut::brain {

// Quota in use over the measured hours, computed from the highest value of each hour, and the quota that would
// suffice.
struct QuotaAdvice {
  int64_t hours = 0;                             // number of measured hours
  int64_t in_use_p95 = 0, in_use_peak = 0;       // 95th percentile and maximum over the hours
  std::optional<int64_t> usage_p95, usage_peak;  // real usage of jobs; absent if not measured
  std::optional<int64_t> recommended;            // recommended nominal quota; absent with too few hours
  std::string reason;                            // explanation in sentences
};

// The row of one group, tier and resource.
struct QuotaRowView {
  std::string group, tier, resource;
  bool cohort = false;
  QuotaCell cell;
  int64_t available = 0;  // highest amount that the group may additionally use now
  int64_t maximum = 0;    // highest amount that the group could use if all quota were unused
  std::optional<QuotaAdvice> advice = std::nullopt;  // advice, which a caller with a history sets
  // Amount by which the production quota of all groups exceeds the capacity. Present in production rows of groups
  // without a parent, for resources with a capacity.
  std::optional<int64_t> oversold = std::nullopt;

  // Returns the use that counts against `cell.quota`. A cohort's quota is the part that its groups share, so use
  // of their exclusive parts does not count.
  int64_t in_use() const { return cell.use; }
  // Returns the use that is borrowed from the cohort above; 0 for a group without a parent.
  int64_t borrowed() const { return cell.parent < 0 ? 0 : std::min(beyond(), cell.borrow); }
  // Returns the use that exceeds the sum of the group's quota and the amount that the group may borrow.
  int64_t over_quota() const { return beyond() - borrowed(); }

 private:
  // A cohort's use does not include the children's use of their exclusive quota.
  int64_t beyond() const { return std::max<int64_t>(0, cell.use - cell.quota); }
};

// Returns the rows that have quota or use, by group in tree order, then by tier and resource. O(groups * tiers *
// resources * depth).
std::vector<QuotaRowView> RowsOf(const QuotaTree& tree);
// As above, with `oversold` by `spec`, the specification of the tree.
std::vector<QuotaRowView> RowsOf(const QuotaTree& tree, const QuotaSpec& spec);

}  // namespace taut::brain
