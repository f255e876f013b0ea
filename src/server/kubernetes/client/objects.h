// What Tautline keeps of the objects of a cluster: pods (pod.h), their owners, nodes, autoscalers and rules.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "common/model/resource.h"
#include "server/kubernetes/client/pod.h"

namespace taut::server {

// What Tautline recommends for a workload, in one line (status_text.h); it writes it itself, and it is no setting.
inline constexpr std::string_view kStatusAnnotation = "tautline.dev/status";

// A ReplicaSet, Job, Deployment or Namespace: what is read of their metadata.
struct OwnedObject {
  std::string namespace_name, name;
  std::string owner_kind, owner_name;  // its controller; "": none
  std::string uid = {};
  std::vector<std::pair<std::string, std::string>> steering =
      {};                    // annotations that are settings, and labels that opt out (steering.h)
  std::string program = {};  // its label or annotation kProgramName, else its generateName; "": it names none
  std::optional<std::string> status = {};  // its annotation kStatusAnnotation; absent: it has none
  std::string split = {};                  // its annotation kSplitAnnotation (workload_split.h)
  // Labels and annotations that would be settings and are not used, a sentence each.
  std::vector<std::string> refused = {};
};

struct NodeTaint {
  std::string key, value, effect;
  bool operator==(const NodeTaint&) const = default;
};

struct Node {
  std::string name;
  Amounts allocatable;
  bool is_ready = false;
  std::vector<std::pair<std::string, std::string>> labels = {};
  std::vector<NodeTaint> taints = {};  // NoSchedule and NoExecute, without the cluster's own (node_filter.h)
};

// Of a LimitRange; absent: not bounded.
struct AmountRange {
  Amounts min = {}, max = {}, max_limit_request_ratio = {};
};

// What a namespace allows of its pods: a LimitRange or a ResourceQuota.
struct NamespaceRule {
  std::string namespace_name = {}, name = {};
  AmountRange container = {}, pod = {};          // of a LimitRange
  Amounts requests_left = {}, limits_left = {};  // of a ResourceQuota: what it allows less what is used
};

// What a VerticalPodAutoscaler says of a container, "*" for every other one.
struct VpaContainerPolicy {
  std::string container = "*";
  bool is_off = false;
  bool controls_cpu = true, controls_memory = true;
  bool requests_only = false;  // controlledValues: limits stay as they are
  Amounts min_allowed, max_allowed;
  bool operator==(const VpaContainerPolicy&) const = default;
};

struct Vpa {
  std::string namespace_name, name;
  std::string recommender;  // the first that it names; "": the default one
  std::string target_kind, target_name;
  std::string update_mode = {};  // "Off": it changes no pod; "": not set, and it does
  std::vector<VpaContainerPolicy> policies;
  bool operator==(const Vpa&) const = default;
};

// What a HorizontalPodAutoscaler scales by: the use of a resource as a share of its requests.
struct UtilizationMetric {
  Resource resource = Resource::kCpu;
  std::string container = {};  // "": of all containers of a pod
  bool operator==(const UtilizationMetric&) const = default;
};

struct Hpa {
  std::string namespace_name = {}, name = {};
  std::string target_kind = {}, target_name = {};
  std::vector<UtilizationMetric> metrics = {};  // of its metrics, those that are utilizations
  bool operator==(const Hpa&) const = default;
};

// A ScaledObject of KEDA, which sets the replicas of its target through an HPA that it makes, and deletes while it
// is paused.
struct KedaScaledObject {
  std::string namespace_name = {}, name = {};
  std::string target_kind = {}, target_name = {};
  std::string paused_by =
      {};  // the annotation, "autoscaling.keda.sh/paused-replicas: 3"; "": it is not paused
  bool operator==(const KedaScaledObject&) const = default;
};

// Of a list. `resource_version`: where a watch goes on; `next`: for the rest of the list, "" if there is none.
struct ListMeta {
  std::string resource_version, next;
};

// One event of a watch.
enum class WatchEvent : uint8_t { kPut, kDeleted, kBookmark, kError };
struct WatchMeta {
  WatchEvent event = WatchEvent::kError;
  std::string resource_version;
  int error_code = 0;  // of kError: 410 if the version is too old
  std::string error;
};

// One object, one thread; keeps its buffers. Parse functions return DataLoss for what is not JSON or no such
// object; fields that are missing stay as they are, since servers leave out what is empty. O(bytes).
class ObjectParser {
 public:
  ObjectParser();
  ~ObjectParser();

  // Calls fn for each item; `Object` is Pod, OwnedObject, Node, Vpa, Hpa, KedaScaledObject or NamespaceRule.
  template <typename Object>
  absl::Status ParseList(std::string_view body, ListMeta& meta, absl::FunctionRef<void(Object&&)> fn);
  // A line of a watch. `object` is set for kPut and kDeleted.
  template <typename Object>
  absl::Status ParseWatch(std::string_view line, WatchMeta& meta, Object& object);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace taut::server
