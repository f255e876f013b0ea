// The extent of a caller's permission: all jobs and groups, or some groups of the quota with their descendants.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/auth/permissions.h"
#include "server/pool/group_scheme.h"

namespace taut::server {

// A value type. Without a configured quota, a caller who is bound to groups has an empty reach.
class Reach {
 public:
  // Returns the reach of the caller's roles that permit `act`. `scheme` is null without quota.
  static Reach Of(const HttpRequest& caller, Act act, std::shared_ptr<const GroupScheme> scheme);
  // Constructs the reach of all jobs and groups.
  Reach() = default;

  bool all() const { return all_; }
  // Returns the groups, ascending and without their descendants; empty if all().
  const std::vector<std::string>& groups() const { return groups_; }
  // Returns the scheme of the groups; null if all(), and without quota.
  const std::shared_ptr<const GroupScheme>& scheme() const { return scheme_; }
  // Returns true if the group is one of groups() or a descendant of one.
  bool Has(std::string_view group) const;
  bool Has(const JobRecord& job) const { return all_ || (scheme_ != nullptr && Has(scheme_->GroupOf(job))); }
  // Two reaches are equal if all(), groups() and scheme() are equal.
  bool operator==(const Reach&) const = default;

 private:
  bool all_ = true;
  std::vector<std::string> groups_;
  std::shared_ptr<const GroupScheme> scheme_;
};

}  // namespace taut::server
