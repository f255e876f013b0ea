// The quota of one tier while jobs of it come, change and go: what a replay of a pool asks before it sells.
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

// Amounts are those of a TierSeller. A resource that the tree does not have is not
// limited.
class TierQuota {
 public:
  // `groups`: the caller's ids are indices of it. REQUIRES: the tree has the tier.
  TierQuota(brain::QuotaTree tree, std::string_view tier, std::span<const std::string> groups);

  // NotFound or FailedPrecondition for a group that does not exist or is a cohort.
  absl::Status Check(uint32_t group) const;
  // O(depth). REQUIRES: Check is OK for the group, here and below.
  bool Fits(uint32_t group, const PoolAmounts& ask) const;
  absl::StatusOr<brain::AdmissionVerdict> Decide(uint32_t group, const PoolAmounts& ask) const;
  // What a job holds is now `to` and was `from`, whether it fits or not.
  absl::Status Change(uint32_t group, const PoolAmounts& from, const PoolAmounts& to);

 private:
  brain::QuotaVector AmountsOf(const PoolAmounts& amounts) const;

  brain::QuotaTree tree_;
  std::string tier_;
  int32_t tier_index_ = 0;
  std::vector<std::string> groups_;
};

}  // namespace taut::tools
