// A tree of quota as rows to be shown: one group, tier and resource each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "brain/economy/quota_tree.h"

namespace taut::brain {

// What was in use of a quota in the hours that are known, by the highest of each, and the quota that would do.
struct QuotaAdvice {
  int64_t hours = 0;                             // that were measured
  int64_t in_use_p95 = 0, in_use_peak = 0;       // 95 % of the hours were at or below the former
  std::optional<int64_t> usage_p95, usage_peak;  // what jobs really used; absent: not measured
  std::optional<int64_t> recommended;            // nominal quota; absent: too few hours
  std::string reason;                            // sentences
};

struct QuotaRowView {
  std::string group, tier, resource;
  bool cohort = false;
  QuotaCell cell;
  int64_t available = 0;                             // the most that the group may use more than now
  int64_t maximum = 0;                               // the most that it could use if no one used anything
  std::optional<QuotaAdvice> advice = std::nullopt;  // by those who keep a history

  // Of the cohort above, which a group or cohort without one cannot do.
  int64_t borrowed() const { return cell.parent < 0 ? 0 : std::min(beyond(), cell.borrow); }
  // In use beyond its quota and what it may borrow.
  int64_t over_quota() const { return beyond() - borrowed(); }

 private:
  // A cohort's use is without what its children use of their exclusive quota.
  int64_t beyond() const { return std::max<int64_t>(0, cell.use - cell.quota); }
};

// The rows that have quota or use: groups in the order of the tree, then by tier and resource. O(groups * tiers *
// resources * depth).
std::vector<QuotaRowView> RowsOf(const QuotaTree& tree);

}  // namespace taut::brain
