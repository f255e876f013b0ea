// Kubernetes objects, reduced to the fields that Tautline uses: pods (pod.h), their owners, nodes, autoscalers and
// rules.
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

// Annotation in which Tautline writes its recommendation for a workload as one line (status_text.h). Not a
// setting.
inline constexpr std::string_view kStatusAnnotation = "tautline.dev/status";

// Metadata of a ReplicaSet, Job, Deployment or Namespace.
struct OwnedObject {
  std::string namespace_name, name;
  std::string owner_kind, owner_name;  // controller of the object; "": none
  std::string uid = {};
  std::vector<std::pair<std::string, std::string>> steering =
      {};                    // annotations that are settings, and labels that opt out (steering.h)
  std::string program = {};  // label or annotation kProgramName, else generateName; "": none
  std::optional<std::string> status = {};  // annotation kStatusAnnotation; absent: none
  std::string split = {};                  // annotation kSplitAnnotation (workload_split.h)
  // Sentences about labels and annotations that look like settings but have no effect.
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
  // NoSchedule and NoExecute taints, without the taints that the cluster sets (node_filter.h)
  std::vector<NodeTaint> taints = {};
};

// Bounds of a LimitRange; absent: unbounded.
struct AmountRange {
  Amounts min = {}, max = {}, max_limit_request_ratio = {};
};

// A LimitRange or a ResourceQuota of a namespace.
struct NamespaceRule {
  std::string namespace_name = {}, name = {};
  AmountRange container = {}, pod = {};          // bounds of a LimitRange
  Amounts requests_left = {}, limits_left = {};  // remaining amounts of a ResourceQuota
};

// Policy of a VerticalPodAutoscaler for one container; "*" stands for all other containers.
struct VpaContainerPolicy {
  std::string container = "*";
  bool is_off = false;
  bool controls_cpu = true, controls_memory = true;
  bool requests_only = false;  // true: controlledValues excludes limits
  Amounts min_allowed, max_allowed;
  bool operator==(const VpaContainerPolicy&) const = default;
};

struct Vpa {
  std::string namespace_name, name;
  std::string recommender;  // first named recommender; "": the default
  std::string target_kind, target_name;
  // mode; "Off": the VPA changes no pods; "": not set, and the VPA changes pods
  std::string update_mode = {};
  std::vector<VpaContainerPolicy> policies;
  bool operator==(const Vpa&) const = default;
};

// A metric of a HorizontalPodAutoscaler: usage of a resource as a share of its requests.
struct UtilizationMetric {
  Resource resource = Resource::kCpu;
  std::string container = {};  // name of the container; "": all containers of the pod
  bool operator==(const UtilizationMetric&) const = default;
};

struct Hpa {
  std::string namespace_name = {}, name = {};
  std::string target_kind = {}, target_name = {};
  std::vector<UtilizationMetric> metrics = {};  // metrics of utilization; others are omitted
  bool operator==(const Hpa&) const = default;
};

// A ScaledObject of KEDA, which sets the replicas of its target through an HPA. KEDA creates the HPA, and deletes
// it while the ScaledObject is paused.
struct KedaScaledObject {
  std::string namespace_name = {}, name = {};
  std::string target_kind = {}, target_name = {};
  // Annotation that pauses the object, such as "autoscaling.keda.sh/paused-replicas: 3"; "": not paused.
  std::string paused_by = {};
  bool operator==(const KedaScaledObject&) const = default;
};

// Metadata of a list. `resource_version`: version from which a watch may start. `next`: token for the rest of the
// list; "" if the list is complete.
struct ListMeta {
  std::string resource_version, next;
};

enum class WatchEvent : uint8_t { kPut, kDeleted, kBookmark, kError };
struct WatchMeta {
  WatchEvent event = WatchEvent::kError;
  std::string resource_version;
  int error_code = 0;  // code of kError: 410 if the version is too old
  std::string error;
};

// Parses JSON of the API server, and reuses buffers. Functions return DataLoss for text that is not JSON or not
// the expected object. A missing field leaves the member of the output unchanged, because servers omit empty
// fields. O(bytes). Not thread-safe.
class ObjectParser {
 public:
  ObjectParser();
  ~ObjectParser();

  // Calls `fn` for each item of a list. `Object` is Pod, OwnedObject, Node, Vpa, Hpa, KedaScaledObject or
  // NamespaceRule.
  template <typename Object>
  absl::Status ParseList(std::string_view body, ListMeta& meta, absl::FunctionRef<void(Object&&)> fn);
  // Parses one line of a watch. Sets `object` only for kPut and kDeleted.
  template <typename Object>
  absl::Status ParseWatch(std::string_view line, WatchMeta& meta, Object& object);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace taut::server
