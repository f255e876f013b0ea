// A tree of cohorts with its quota and what is in use: one QuotaLane per tier and resource, found by name.
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

// A value; a copy shares the names. Without Make it has no groups. Not for use by several threads while one
// changes it.
class QuotaTree {
 public:
  // InvalidArgument with every error of CheckQuota. What is in use is accounted as given, also beyond the
  // quota.
  static absl::StatusOr<QuotaTree> Make(const QuotaSpec& spec, std::span<const QuotaUse> in_use = {});

  // Groups, cohorts and pools; the groups of the specification come first, as there.
  int32_t groups() const { return static_cast<int32_t>(names_->groups.size()); }
  const std::string& NameOf(int32_t group) const { return names_->groups[static_cast<size_t>(group)]; }
  bool IsCohort(int32_t group) const { return names_->cohort[static_cast<size_t>(group)]; }
  // By name.
  std::span<const std::string> tiers() const { return names_->tiers; }
  std::span<const std::string> resources() const { return names_->resources; }
  std::optional<int32_t> TierNamed(std::string_view name) const;
  std::optional<int32_t> ResourceNamed(std::string_view name) const;
  // NotFound with the nearest name; FailedPrecondition for a cohort, in which nothing runs.
  absl::StatusOr<int32_t> GroupNamed(std::string_view name) const;
  // InvalidArgument with the nearest name.
  absl::StatusOr<int32_t> TierOrError(std::string_view name) const;

  const QuotaLane& lane(int32_t tier, int32_t resource) const { return lanes_[LaneOf(tier, resource)]; }
  // Whether the group has a row in the tier.
  bool HasTier(int32_t group, int32_t tier) const;

  // Counts more, or less, in use: allowed or not, all of it or nothing. O(resources * depth). InvalidArgument
  // for an unknown group, tier or resource and for a negative amount; Remove: FailedPrecondition for more
  // than is in use.
  absl::Status Add(const QuotaUse& use);
  absl::Status Remove(const QuotaUse& use);
  // What each group uses, in the order of the groups, then by tier; none that uses nothing. Given to another
  // specification's Make, it is the account under the changed quota.
  std::vector<QuotaUse> InUse() const;
  // A warning for each group, cohort and pool that uses more than it may, as after its quota was lowered: the
  // use stays accounted, and nothing is admitted there until it is less. O(groups * tiers * resources).
  std::vector<QuotaFinding> Overused() const;

 private:
  struct Hash {  // also of a name that is no std::string
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
  std::vector<QuotaLane> lanes_;  // by tier, then resource
};

// All that is wrong with a specification, were it to replace the one under which this is in use:
// CheckQuotaSpec, and Overused if that has no error.
std::vector<QuotaFinding> CheckQuota(const QuotaSpec& spec, std::span<const QuotaUse> in_use = {});

}  // namespace taut::brain
