// A tree of quota as rows to be shown: one group, tier and resource each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "economy/quota_tree.h"

namespace taut {

struct QuotaRowView {
  std::string group, tier, resource;
  bool cohort = false;
  QuotaCell cell;
  int64_t available = 0;  // the most that the group may use more than now
  int64_t maximum = 0;    // the most that it could use if no one used anything

  int64_t borrowed() const { return std::max<int64_t>(0, cell.held - cell.quota); }
};

// The rows that have quota or use: groups in the order of the tree, then by tier and resource. O(groups * tiers *
// resources * depth).
std::vector<QuotaRowView> RowsOf(const QuotaTree& tree);

}  // namespace taut
