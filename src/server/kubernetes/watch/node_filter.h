// The nodes on which a pod may run, according to nodeSelector, required node affinity and tolerations in its spec.
// No I/O.
//
// Source: Kubernetes, "Assigning Pods to Nodes" and "Taints and Tolerations"; k8s.io/component-helpers,
// scheduling/corev1/nodeaffinity.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/json/json_tree.h"
#include "server/kubernetes/client/objects.h"

namespace taut::server {

// A condition on one label of a node, or on the node's name if is_field.
struct NodeRequirement {
  // kNever: an unknown operator, for which no node qualifies.
  enum class Operator : uint8_t { kIn, kNotIn, kExists, kDoesNotExist, kGt, kLt, kNever };
  std::string key;
  Operator op = Operator::kNever;
  std::vector<std::string> values;
  bool is_field = false;
};
// A node must meet all requirements of a term. No node meets an empty term.
using NodeTerm = std::vector<NodeRequirement>;

// A toleration in a pod's spec.
struct Toleration {
  std::string key, value, effect;  // "" matches any key, value or effect
  bool exists = false;             // true: matches any value
};

// The conditions of a pod on its node.
struct NodeFilter {
  std::vector<std::pair<std::string, std::string>> selector;
  // A node must meet at least one term. Absent: no affinity is required.
  std::optional<std::vector<NodeTerm>> terms;
  std::vector<Toleration> tolerations;
  std::string where;  // selector and terms as text for users, such as "nodeSelector pool=small"; "": none
  std::string key;    // text of all conditions, by which filters are compared
};

// Reads the filter in a pod's spec. Returns nullptr if there is no condition, so that the pod may run on every
// node without taints. If all terms name one node, as in pods of a DaemonSet, stores the node in `pinned_node` and
// not in the filter. All pods of a DaemonSet can therefore share one filter.
std::shared_ptr<const NodeFilter> ReadNodeFilter(JsonNode pod_spec, std::string& pinned_node);
// Reads a node with its labels and taints. Returns false if `at` has no metadata.
bool ReadNode(JsonNode at, Node& node);

// Returns true if the node meets nodeSelector and affinity. A null filter selects every node.
bool Selects(const NodeFilter* filter, const Node& node);
// Returns true if the pod tolerates all NoSchedule and NoExecute taints in `node`. ReadNode() omits the taints
// node.kubernetes.io/... and node.cloudprovider.kubernetes.io/..., which the cluster sets temporarily, such as
// while it drains a node.
bool Tolerates(const NodeFilter* filter, const Node& node);

}  // namespace taut::server
