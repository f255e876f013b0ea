#include "server/pool/reach.h"

#include <algorithm>
#include <utility>

namespace taut::server {

Reach Reach::Of(const HttpRequest& caller, Act act, std::shared_ptr<const GroupScheme> scheme) {
  Reach reach;
  if (May(caller.role, act) && caller.role != Role::kGroup) return reach;
  reach.all_ = false;
  reach.scheme_ = std::move(scheme);
  if (caller.role != Role::kGroup || caller.bindings == nullptr || reach.scheme_ == nullptr) return reach;
  for (const GroupBinding& binding : *caller.bindings) {
    if (May(binding.as, act)) reach.groups_.push_back(binding.group);
  }
  std::ranges::sort(reach.groups_);
  reach.groups_.erase(std::unique(reach.groups_.begin(), reach.groups_.end()), reach.groups_.end());
  const std::vector<std::string> whole = reach.groups_;
  std::erase_if(reach.groups_, [&](const std::string& group) {
    return std::ranges::any_of(whole, [&](const std::string& above) {
      return above != group && reach.scheme_->IsWithin(group, above);
    });
  });
  return reach;
}

bool Reach::Has(std::string_view group) const {
  if (all_) return true;
  if (group.empty() || scheme_ == nullptr) return false;
  return std::ranges::any_of(groups_,
                             [&](const std::string& above) { return scheme_->IsWithin(group, above); });
}

}  // namespace taut::server
