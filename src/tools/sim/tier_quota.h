// Quota of one tier, whose jobs start, change and end. A replay of a pool checks the quota before each sale.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/economy/admission.h"
#include "brain/economy/quota_tree.h"
#include "tools/sim/tier_seller.h"

namespace taut::tools {

// Amounts are in the units of TierSeller. Resources that the tree lacks are unlimited.
class TierQuota {
 public:
  // `groups` contains the name of each group by its number. REQUIRES: the tree has the tier.
  TierQuota(brain::QuotaTree tree, std::string_view tier, std::span<const std::string> groups);

  // Returns OK if the group can request quota, NotFound for an unknown group, and FailedPrecondition for a cohort.
  absl::Status Check(uint32_t group) const;
  // Returns true if the group's quota has room for the request. O(depth). REQUIRES (also for the functions below):
  // Check(group) returns OK.
  bool Fits(uint32_t group, const PoolAmounts& ask) const;
  // Returns the verdict about the request, with reasons.
  absl::StatusOr<brain::AdmissionVerdict> Decide(uint32_t group, const PoolAmounts& ask) const;
  // Changes a job's amounts from `from` to `to`, even if `to` exceeds the quota.
  absl::Status Change(uint32_t group, const PoolAmounts& from, const PoolAmounts& to);

 private:
  brain::QuotaVector AmountsOf(const PoolAmounts& amounts) const;

  brain::QuotaTree tree_;
  std::string tier_;
  int32_t tier_index_ = 0;
  std::vector<std::string> groups_;
};

}  // namespace taut::tools
