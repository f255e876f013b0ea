// What LimitRanges and ResourceQuotas of a namespace allow: the API server refuses to create a pod that breaks
// them.
//
// Source: Kubernetes, "Limit Ranges" and "Resource Quotas".
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "common/model/allowed_range.h"
#include "common/model/resource.h"
#include "server/kubernetes/client/objects.h"
#include "server/kubernetes/watch/node_table.h"

namespace taut::server {

// What is recommended for a job's tasks, in the words of Kubernetes.
struct RecommendedAmount {
  bool of_pods = false;     // its tasks are whole pods, not containers
  bool is_request = false;  // else the limit
  double share = 1;         // request / limit, which keep their ratio; 0 < share <= 1
};

// What it may be by these rules of its namespace and by `largest`: the narrowest of all. A LimitRange bounds
// request and limit. Its maximum ratio of the two and what a quota has left are not in it: they depend on more
// than the amount.
AllowedRange AllowedBy(std::span<const NamespaceRule> rules, const LargestNode& largest,
                       const RecommendedAmount& amount, Resource resource);

// How the containers of `after` exceed together what the pod has as a whole (spec.resources) and they share: "the
// memory limits of its containers together above 128Mi, the limit of the whole pod (spec.resources)". "": they do
// not, or no further than those of `before`. A container without a limit counts with its request.
std::string AbovePod(const Pod& before, const Pod& after);

// The rule that `after` breaks and `before` does not, for people: "shop/small: memory of container app: limit
// above 512Mi", or AbovePod. "": none. `before` and `after` are a new pod, with the same containers.
std::string BrokenRule(const Pod& before, const Pod& after, std::span<const NamespaceRule> rules);

// Why no node has room for the new pod `after`: its containers together request more of the resource than
// `largest_node` has. "": one has, or `before`, which has the same containers, requests as much.
std::string AboveNodes(const Pod& before, const Pod& after, const Amounts& largest_node, Resource resource);

// Those of a cluster as last seen. Thread-safe.
class NamespaceRules {
 public:
  // `kind`: "LimitRange" or "ResourceQuota".
  void Replace(const std::string& kind, std::vector<NamespaceRule> all);
  void Put(const std::string& kind, NamespaceRule rule);
  void Remove(const std::string& kind, const NamespaceRule& rule);
  std::vector<NamespaceRule> Of(const std::string& namespace_name) const;
  // They were listed once.
  bool Knows(const std::string& kind) const;
  // Grows with every call that may have changed a LimitRange.
  uint64_t version() const;

 private:
  void Note(const std::string& kind);  // REQUIRES: mutex_

  mutable std::mutex mutex_;
  uint64_t version_ = 0;
  std::set<std::string> known_;                                        // kinds
  std::map<std::string, std::map<std::string, NamespaceRule>> rules_;  // by namespace, then "Kind/name"
};

}  // namespace taut::server
