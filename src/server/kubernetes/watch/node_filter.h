// The nodes on which a pod may run, according to its spec: nodeSelector, required node affinity and tolerated
// taints. No I/O.
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

// A condition on one label of a node or, if is_field, on the node's name.
struct NodeRequirement {
  // kNever stands for an unknown operator, which no node meets.
  enum class Operator : uint8_t { kIn, kNotIn, kExists, kDoesNotExist, kGt, kLt, kNever };
  std::string key;
  Operator op = Operator::kNever;
  std::vector<std::string> values;
  bool is_field = false;
};
// A node has to meet every requirement of a term. No node meets an empty term.
using NodeTerm = std::vector<NodeRequirement>;

// A taint that a pod tolerates.
struct Toleration {
  std::string key, value, effect;  // "" matches every key, value or effect
  bool exists = false;             // the toleration matches any value
};

// The conditions of a pod on its nodes.
struct NodeFilter {
  std::vector<std::pair<std::string, std::string>> selector;
  // A node must meet at least one of these terms. Absent if no affinity is required.
  std::optional<std::vector<NodeTerm>> terms;
  std::vector<Toleration> tolerations;
  std::string where;  // selector and terms as text for people, such as "nodeSelector pool=small"; "": none
  std::string key;    // text of all conditions; filters with equal keys are equal
};

// Reads the filter of a pod's spec. Returns nullptr if the spec has no condition, so that the pod may run on
// every node without taints. If all terms name one node, as the DaemonSet controller writes them, the node is
// stored in `pinned_node` and not in the filter. The pods of a DaemonSet can then share one filter.
std::shared_ptr<const NodeFilter> ReadNodeFilter(JsonNode pod_spec, std::string& pinned_node);
// Reads a node with its labels and taints. Returns false if `at` has no metadata.
bool ReadNode(JsonNode at, Node& node);

// Returns true if the node meets nodeSelector and affinity. A filter of nullptr selects every node.
bool Selects(const NodeFilter* filter, const Node& node);
// Returns true if the pod tolerates every taint NoSchedule and NoExecute of the node. The taints
// node.kubernetes.io/... and node.cloudprovider.kubernetes.io/... are not among the node's taints, because
// the cluster sets them only for a time, for example while a node is drained.
bool Tolerates(const NodeFilter* filter, const Node& node);

}  // namespace taut::server
