// A tree of cohorts with their quota and use. The tree has one QuotaLane for each tier and resource, found by
// name.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "brain/economy/quota_lane.h"
#include "brain/economy/quota_spec.h"

namespace taut::brain {

// A tree as a value; copies share the names. A default-constructed tree is empty. Several threads may read a
// tree while no thread changes it.
class QuotaTree {
 public:
  // Creates the tree and counts the use `in_use`, even if it exceeds the quota. Returns InvalidArgument with
  // every error of CheckQuotaSpec.
  static absl::StatusOr<QuotaTree> Make(const QuotaSpec& spec, std::span<const QuotaUse> in_use = {});

  // Returns the number of groups, cohorts and pools. Groups of the specification come first, in their order.
  int32_t groups() const { return static_cast<int32_t>(names_->groups.size()); }
  const std::string& NameOf(int32_t group) const { return names_->groups[static_cast<size_t>(group)]; }
  bool IsCohort(int32_t group) const { return names_->cohort[static_cast<size_t>(group)]; }
  // Returns the names of the tiers, in ascending order.
  std::span<const std::string> tiers() const { return names_->tiers; }
  std::span<const std::string> resources() const { return names_->resources; }
  std::optional<int32_t> TierNamed(std::string_view name) const;
  std::optional<int32_t> ResourceNamed(std::string_view name) const;
  // Returns NotFound with the nearest name for an unknown group, FailedPrecondition for a cohort, in which no
  // job runs.
  absl::StatusOr<int32_t> GroupNamed(std::string_view name) const;
  // Returns InvalidArgument with the nearest name for an unknown tier.
  absl::StatusOr<int32_t> TierOrError(std::string_view name) const;

  const QuotaLane& lane(int32_t tier, int32_t resource) const { return lanes_[LaneOf(tier, resource)]; }
  // Returns true if the specification has a row of the group in the tier.
  bool HasTier(int32_t group, int32_t tier) const;

  // Add or remove use, even if it does not fit. On error, no resource changes. O(resources * depth). Both return
  // InvalidArgument for an unknown group, tier or resource, or for an amount that is negative or too large.
  // Remove also returns FailedPrecondition for an amount above the use.
  absl::Status Add(const QuotaUse& use);
  absl::Status Remove(const QuotaUse& use);
  // Returns the use of each group, in the order of groups and then tiers, without empty uses. The result can be
  // the argument `in_use` when Make creates a tree from another specification.
  std::vector<QuotaUse> InUse() const;
  // Returns a warning for each group, cohort and pool whose use exceeds its quota and borrowable amount, as
  // after a reduction of quota. The use stays counted, and nothing more is admitted until the use falls.
  // O(groups * tiers * resources).
  std::vector<QuotaFinding> Overused() const;

 private:
  struct Hash {  // hashes names that are not std::string
    using is_transparent = void;
    size_t operator()(std::string_view name) const { return std::hash<std::string_view>{}(name); }
  };
  struct Names {
    std::vector<std::string> groups, tiers, resources;
    std::vector<bool> cohort;
    std::unordered_map<std::string, int32_t, Hash, std::equal_to<>> by_group;
  };
  friend class QuotaTreeBuilder;

  size_t LaneOf(int32_t tier, int32_t resource) const {
    return static_cast<size_t>(tier) * names_->resources.size() + static_cast<size_t>(resource);
  }
  absl::Status Change(const QuotaUse& use, int64_t sign);

  std::shared_ptr<const Names> names_ = std::make_shared<Names>();
  std::vector<QuotaLane> lanes_;  // lanes by tier, then resource
};

// Returns the findings of CheckQuotaSpec about a specification that is to replace the current specification. If
// there is no error, also returns the findings of Overused with `in_use`.
std::vector<QuotaFinding> CheckQuota(const QuotaSpec& spec, std::span<const QuotaUse> in_use = {});

}  // namespace taut::brain
