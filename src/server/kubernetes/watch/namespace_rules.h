// The amounts that the LimitRanges and ResourceQuotas of a namespace allow. The API server rejects pods that
// exceed them.
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

// The amount that a recommendation sets, in terms of Kubernetes.
struct RecommendedAmount {
  bool of_pods = false;     // true: the job's tasks are whole pods; false: containers
  bool is_request = false;  // true: the amount is the request; false: the limit
  double share = 1;         // constant ratio of request to limit, in (0, 1]
};

// Returns the range that the LimitRanges in `rules` and the largest node allow for the amount. A LimitRange bounds
// both request and limit. Ignores the maximum ratio of limit to request and the remaining amount of quotas,
// because they depend on other amounts.
AllowedRange AllowedBy(std::span<const NamespaceRule> rules, const LargestNode& largest,
                       const RecommendedAmount& amount, Resource resource);

// Returns a text for users if the containers of `after` together exceed the amounts of the whole pod
// (spec.resources) by more than the containers of `before`; "" otherwise. The request of a container without a
// limit counts as its limit. Example: "the memory limits of its containers together above 128Mi, the limit of the
// whole pod (spec.resources)".
std::string AbovePod(const Pod& before, const Pod& after);

// Returns the rule that `after` violates and `before` does not, as text for users; "" if there is none. Example:
// "shop/small: memory of container app: limit above 512Mi"; or a text of AbovePod(). `before` and `after` are
// states of one new pod with the same containers in the same order.
std::string BrokenRule(const Pod& before, const Pod& after, std::span<const NamespaceRule> rules);

// Returns the reason why no node has room for the new pod `after`, whose containers together request more of the
// resource than `largest_node` has. Returns "" if a node has room, or if `before` (with the same containers)
// requests at least as much.
std::string AboveNodes(const Pod& before, const Pod& after, const Amounts& largest_node, Resource resource);

// The current rules of a cluster. Thread-safe.
class NamespaceRules {
 public:
  // Replaces all rules of a kind, "LimitRange" or "ResourceQuota".
  void Replace(const std::string& kind, std::vector<NamespaceRule> all);
  void Put(const std::string& kind, NamespaceRule rule);
  void Remove(const std::string& kind, const NamespaceRule& rule);
  std::vector<NamespaceRule> Of(const std::string& namespace_name) const;
  // Returns true once the objects of the kind were listed.
  bool Knows(const std::string& kind) const;
  // Returns a number that grows with every call that may have changed a LimitRange.
  uint64_t version() const;

 private:
  void Note(const std::string& kind);  // REQUIRES: mutex_ is locked

  mutable std::mutex mutex_;
  uint64_t version_ = 0;
  std::set<std::string> known_;                                        // kinds that were listed
  std::map<std::string, std::map<std::string, NamespaceRule>> rules_;  // keys: namespace, "Kind/name"
};

}  // namespace taut::server
