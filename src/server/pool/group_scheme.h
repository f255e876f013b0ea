// The groups of jobs and the tree of groups, as the quota and its rules define them at one time.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "absl/functional/function_ref.h"
#include "brain/economy/quota_spec.h"
#include "server/pool/group_rules.h"

namespace taut::server {

// Immutable, thus thread-safe.
class GroupScheme {
 public:
  GroupScheme(const brain::QuotaSpec& spec, GroupRules rules, std::string group_template);

  // Returns the group of a job; "" if there is none.
  std::string GroupOf(const JobRecord& job) const { return rules_.Of(job).group; }
  // Returns the tier of a job; the default tier if the job's labels name none.
  std::string TierOf(const JobRecord& job) const { return rules_.Of(job).tier; }
  bool has_tier_template() const { return rules_.has_tier_template(); }
  bool Has(const std::string& group) const { return parents_.contains(group); }
  // Returns true if `group` equals `above` or is its descendant. A group that is not in the quota has no
  // ancestors. O(depth).
  bool IsWithin(std::string_view group, std::string_view above) const;
  // Returns the first of `group` and its ancestors for which `counts` returns true; "" if there is none. O(depth).
  std::string NearestAbove(std::string_view group, absl::FunctionRef<bool(std::string_view)> counts) const;
  // Returns GroupRuleOptions::group.
  const std::string& group_template() const { return group_template_; }

 private:
  const GroupRules rules_;
  const std::string group_template_;
  std::unordered_map<std::string, std::string> parents_;
};

}  // namespace taut::server
