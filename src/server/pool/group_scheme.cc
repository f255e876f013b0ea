#include "server/pool/group_scheme.h"

#include <utility>

namespace taut::server {

GroupScheme::GroupScheme(const brain::QuotaSpec& spec, GroupRules rules, std::string group_template)
    : rules_(std::move(rules)), group_template_(std::move(group_template)) {
  for (const brain::QuotaGroup& group : spec.groups) parents_.emplace(group.name, group.parent);
}

bool GroupScheme::IsWithin(std::string_view group, std::string_view above) const {
  if (above.empty()) return false;
  std::string at(group);
  // The bound on the steps ends the loop even if the quota had a cycle.
  for (size_t step = 0; step <= parents_.size() && !at.empty(); ++step) {
    if (at == above) return true;
    const auto found = parents_.find(at);
    if (found == parents_.end()) return false;
    at = found->second;
  }
  return false;
}

std::string GroupScheme::NearestAbove(std::string_view group,
                                      absl::FunctionRef<bool(std::string_view)> counts) const {
  std::string at(group);
  for (size_t step = 0; step <= parents_.size() && !at.empty(); ++step) {
    if (counts(at)) return at;
    const auto found = parents_.find(at);
    if (found == parents_.end()) break;
    at = found->second;
  }
  return "";
}

}  // namespace taut::server
