// Rules that assign a job to a group and a tier: templates over the labels of the job.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/economy/quota_requests.h"
#include "common/base/name_template.h"
#include "server/control/fleet_view.h"

namespace taut::server {

struct GroupRuleOptions {
  std::string group = "{namespace}";  // template (NameTemplate) of the group's name
  std::string tier;                   // NameTemplate of the tier; "": all jobs have default_tier
  std::string default_tier = "production";
};

class GroupRules {
 public:
  // Compiles the templates. InvalidArgument contains the malformed template.
  static absl::StatusOr<GroupRules> Make(const GroupRuleOptions& options);

  struct Place {
    std::string group, tier;  // names of group and tier; `group` is "" if a label of the template is missing
  };
  // Returns the group and the tier of a job.
  Place Of(const JobRecord& job) const;
  const std::string& default_tier() const { return default_tier_; }
  bool has_tier_template() const { return tier_.has_value(); }

 private:
  GroupRules(NameTemplate group, std::optional<NameTemplate> tier, std::string default_tier)
      : group_(std::move(group)), tier_(std::move(tier)), default_tier_(std::move(default_tier)) {}

  NameTemplate group_;
  std::optional<NameTemplate> tier_;
  std::string default_tier_;
};

// Returns true if any job was measured at `from_s` or later. O(jobs).
bool AnySeen(const FleetView& view, int64_t from_s);

// Returns the quota use and the usage of each job that was measured at `from_s` or later. Quota use is the number
// of tasks times the limit in force (in Kubernetes, the request). If the limit is unknown, the maximum usage in
// the window replaces it. Usage is the window's mean. O(jobs).
std::vector<brain::JobUse> UseOf(const FleetView& view, const GroupRules& rules, int64_t from_s);

}  // namespace taut::server
