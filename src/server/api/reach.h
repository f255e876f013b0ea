// The extent of a caller's permission: everything, or some groups of the quota and their descendants.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/auth/permissions.h"
#include "server/pool/group_scheme.h"

namespace taut::server {

// A value. Without quota, a caller who is bound to groups reaches nothing.
class Reach {
 public:
  // Returns the reach of the caller's roles that permit this act. `scheme`: null without quota.
  static Reach Of(const HttpRequest& caller, Act act, std::shared_ptr<const GroupScheme> scheme);
  // Reaches everything.
  Reach() = default;

  bool all() const { return all_; }
  // The groups, ascending, without their descendants. Empty if all().
  const std::vector<std::string>& groups() const { return groups_; }
  // Null if all(), or without quota.
  const std::shared_ptr<const GroupScheme>& scheme() const { return scheme_; }
  // True if the group is one of groups() or below one.
  bool Has(std::string_view group) const;
  bool Has(const JobRecord& job) const { return all_ || (scheme_ != nullptr && Has(scheme_->GroupOf(job))); }
  // Equal if scheme and groups are the same.
  bool operator==(const Reach&) const = default;

 private:
  bool all_ = true;
  std::vector<std::string> groups_;
  std::shared_ptr<const GroupScheme> scheme_;
};

}  // namespace taut::server
