// Quota of one tier while the tier's jobs start, change and end. A replay of a pool checks the quota before
// it sells.
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

// Amounts are in TierSeller's units. A resource that the tree does not contain is not limited.
class TierQuota {
 public:
  // `groups` maps the caller's ids, which are its indices, to names. REQUIRES: the tree has the tier.
  TierQuota(brain::QuotaTree tree, std::string_view tier, std::span<const std::string> groups);

  // Returns NotFound for an unknown group, FailedPrecondition for a cohort, and OK for all other groups.
  absl::Status Check(uint32_t group) const;
  // Returns true if the group's quota has room for the request. O(depth). REQUIRES, here and below:
  // Check(group) is OK.
  bool Fits(uint32_t group, const PoolAmounts& ask) const;
  // Returns the admission of the request, with reasons.
  absl::StatusOr<brain::AdmissionVerdict> Decide(uint32_t group, const PoolAmounts& ask) const;
  // Changes the amounts that a job holds from `from` to `to`, even if `to` exceeds the quota.
  absl::Status Change(uint32_t group, const PoolAmounts& from, const PoolAmounts& to);

 private:
  brain::QuotaVector AmountsOf(const PoolAmounts& amounts) const;

  brain::QuotaTree tree_;
  std::string tier_;
  int32_t tier_index_ = 0;
  std::vector<std::string> groups_;
};

}  // namespace taut::tools
