// Which nodes a pod may run on, as its spec says it: nodeSelector, required node affinity, and the taints that it
// tolerates. No I/O.
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

// Of a node's labels or, of a field, its name.
struct NodeRequirement {
  // kNever: an operator that is not known; no node meets it.
  enum class Operator : uint8_t { kIn, kNotIn, kExists, kDoesNotExist, kGt, kLt, kNever };
  std::string key;
  Operator op = Operator::kNever;
  std::vector<std::string> values;
  bool is_field = false;
};
// Each has to be met; an empty term is met by no node.
using NodeTerm = std::vector<NodeRequirement>;

struct Toleration {
  std::string key, value, effect;  // "": every one
  bool exists = false;             // of any value
};

struct NodeFilter {
  std::vector<std::pair<std::string, std::string>> selector;
  std::optional<std::vector<NodeTerm>> terms;  // one has to be met; absent: no affinity is required
  std::vector<Toleration> tolerations;
  std::string where;  // the first two for people: "nodeSelector pool=small"; "": neither
  std::string key;    // of all of it: filters with the same key are the same
};

// Of a pod's spec. nullptr: it says nothing, and the pod runs on every node without taints. A node that all terms
// name (as the DaemonSet controller does) is `pinned_node` and no part of the filter, so that the pods of a
// DaemonSet share one.
std::shared_ptr<const NodeFilter> ReadNodeFilter(JsonNode pod_spec, std::string& pinned_node);
// Labels and taints included. False: it has no metadata.
bool ReadNode(JsonNode at, Node& node);

// Whether the node is one by nodeSelector and affinity. nullptr: every node is.
bool Selects(const NodeFilter* filter, const Node& node);
// Whether none of its taints NoSchedule and NoExecute keeps the pod away. Taints node.kubernetes.io/... and
// node.cloudprovider.kubernetes.io/... do not count: the cluster sets them for a time, as while a node is drained.
bool Tolerates(const NodeFilter* filter, const Node& node);

}  // namespace taut::server
