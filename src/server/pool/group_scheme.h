// Which group each job is of, and which groups are below which: the quota and its rules as they were at one
// time.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "absl/functional/function_ref.h"
#include "brain/economy/quota_spec.h"
#include "server/pool/group_rules.h"

namespace taut::server {

// Immutable: any thread.
class GroupScheme {
 public:
  GroupScheme(const brain::QuotaSpec& spec, GroupRules rules, std::string group_template);

  // "": of none.
  std::string GroupOf(const JobRecord& job) const { return rules_.Of(job).group; }
  // The default tier where the labels give none.
  std::string TierOf(const JobRecord& job) const { return rules_.Of(job).tier; }
  bool has_tier_template() const { return rules_.has_tier_template(); }
  bool Has(const std::string& group) const { return parents_.contains(group); }
  // Whether `group` is `above`, or below it. Of a group that the quota does not have only the former. O(depth).
  bool IsWithin(std::string_view group, std::string_view above) const;
  // `group`, or the first one above it that `counts`; "" if none does. O(depth).
  std::string NearestAbove(std::string_view group, absl::FunctionRef<bool(std::string_view)> counts) const;
  // As in GroupRuleOptions.
  const std::string& group_template() const { return group_template_; }

 private:
  const GroupRules rules_;
  const std::string group_template_;
  std::unordered_map<std::string, std::string> parents_;
};

}  // namespace taut::server
