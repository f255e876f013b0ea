// What LimitRanges and ResourceQuotas of a namespace allow: the API server refuses to create a pod that breaks
// them.
//
// Source: Kubernetes, "Limit Ranges" and "Resource Quotas".
#pragma once

#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "kubernetes/objects.h"

namespace taut {

// The rule that `after` breaks and `before` does not, for people: "shop/small: memory of container app: limit
// above 512Mi". "": none. `before` and `after` are a new pod, with the same containers.
std::string BrokenRule(const Pod& before, const Pod& after, std::span<const NamespaceRule> rules);

// Those of a cluster as last seen. Thread-safe.
class NamespaceRules {
 public:
  // `kind`: "LimitRange" or "ResourceQuota".
  void Replace(const std::string& kind, std::vector<NamespaceRule> all);
  void Put(const std::string& kind, NamespaceRule rule);
  void Remove(const std::string& kind, const NamespaceRule& rule);
  std::vector<NamespaceRule> Of(const std::string& namespace_name) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::map<std::string, NamespaceRule>> rules_;  // by namespace, then "Kind/name"
};

}  // namespace taut
