// How far a caller's permission goes: over everything, or over some groups of the quota and what is below them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/auth/permissions.h"
#include "server/pool/group_scheme.h"

namespace taut::server {

// A value. Without quota a caller who is bound to groups reaches nothing.
class Reach {
 public:
  // `scheme`: null without quota.
  static Reach Of(const HttpRequest& caller, Act act, std::shared_ptr<const GroupScheme> scheme);
  // Everything.
  Reach() = default;

  bool all() const { return all_; }
  // Without those that are below them; ascending. Empty if all().
  const std::vector<std::string>& groups() const { return groups_; }
  // Null if all().
  const std::shared_ptr<const GroupScheme>& scheme() const { return scheme_; }
  bool Has(std::string_view group) const;
  bool Has(const JobRecord& job) const { return all_ || (scheme_ != nullptr && Has(scheme_->GroupOf(job))); }
  // Of the same scheme and groups.
  bool operator==(const Reach&) const = default;

 private:
  bool all_ = true;
  std::vector<std::string> groups_;
  std::shared_ptr<const GroupScheme> scheme_;
};

}  // namespace taut::server
