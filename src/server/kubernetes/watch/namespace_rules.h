// The amounts that the LimitRanges and ResourceQuotas of a namespace allow. The API server refuses to create
// a pod that exceeds these amounts.
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

// The amount that a recommendation for a job's tasks sets, in the terms of Kubernetes.
struct RecommendedAmount {
  bool of_pods = false;     // true if the job's tasks are whole pods, not containers
  bool is_request = false;  // false: the amount is the limit
  double share = 1;         // request ÷ limit, a ratio that stays; 0 < share <= 1
};

// Returns the narrowest range that the LimitRanges among `rules` and the node `largest` allow for the amount.
// A LimitRange bounds both request and limit. The largest ratio of limit and request and the amount that a
// quota has left are ignored, because they depend on more than this amount.
AllowedRange AllowedBy(std::span<const NamespaceRule> rules, const LargestNode& largest,
                       const RecommendedAmount& amount, Resource resource);

// Returns a text for people if the containers of `after` together exceed the amounts of the whole pod
// (spec.resources) by more than the containers of `before` do; "" if not. A container without a limit counts
// with its request. Example: "the memory limits of its containers together above 128Mi, the limit of the
// whole pod (spec.resources)".
std::string AbovePod(const Pod& before, const Pod& after);

// Returns the rule that `after` breaks and `before` does not, as text for people; "" if there is none. The
// text is that of AbovePod, or such as "shop/small: memory of container app: limit above 512Mi". `before` and
// `after` are states of one new pod, with the same containers in the same order.
std::string BrokenRule(const Pod& before, const Pod& after, std::span<const NamespaceRule> rules);

// Returns the reason why no node has room for the new pod `after`: its containers together request more of
// the resource than `largest_node` has. Returns "" if a node has room, or if `before`, with the same
// containers, requests at least as much.
std::string AboveNodes(const Pod& before, const Pod& after, const Amounts& largest_node, Resource resource);

// The rules of a cluster as last seen. All functions are thread-safe.
class NamespaceRules {
 public:
  // Replaces all rules of a kind. `kind`: "LimitRange" or "ResourceQuota".
  void Replace(const std::string& kind, std::vector<NamespaceRule> all);
  void Put(const std::string& kind, NamespaceRule rule);
  void Remove(const std::string& kind, const NamespaceRule& rule);
  std::vector<NamespaceRule> Of(const std::string& namespace_name) const;
  // Returns true once the objects of this kind were listed.
  bool Knows(const std::string& kind) const;
  // Returns a number that grows with every call that may have changed a LimitRange.
  uint64_t version() const;

 private:
  void Note(const std::string& kind);  // REQUIRES: mutex_

  mutable std::mutex mutex_;
  uint64_t version_ = 0;
  std::set<std::string> known_;                                        // kinds that were listed
  std::map<std::string, std::map<std::string, NamespaceRule>> rules_;  // by namespace, then "Kind/name"
};

}  // namespace taut::server
