// A pod and its containers, reduced to the fields that Tautline uses.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/model/resource.h"

namespace taut::server {

// Resources with an amount per container.
inline constexpr std::array kPodResources = {Resource::kCpu, Resource::kMemory};

// Amounts of CPU (cores) and memory (bytes); absent: not set.
struct Amounts {
  std::optional<double> cpu, memory;

  const std::optional<double>& of(Resource r) const { return r == Resource::kCpu ? cpu : memory; }
  std::optional<double>& of(Resource r) { return r == Resource::kCpu ? cpu : memory; }
  bool operator==(const Amounts&) const = default;
};

// Reason that the API server reports for a container killed by the OOM killer.
inline constexpr std::string_view kOomKilled = "OOMKilled";

struct ContainerState {
  std::string name;
  uint32_t index = 0;  // position of the container in its list of the spec
  // Amounts in the specification, and amounts that the kubelet reports. The kubelet's amounts are absent until the
  // container runs.
  Amounts requests, limits;
  Amounts actual_requests, actual_limits;
  // Amounts that the owner set, before any resize of the pod. Set by Cluster; absent: unknown.
  Amounts owner_requests, owner_limits;
  bool is_sidecar = false;           // true for an init container that keeps running
  bool restarts_for_memory = false;  // true if resizePolicy restarts the container when memory changes
  bool restarts_for_cpu = false;
  bool running = false;
  bool crash_loops = false;  // true if the container has ended, and the kubelet delays its restart
  int64_t started_s = 0;     // Unix time of the last start of a running container; 0: unknown
  int64_t restarts = 0;
  std::string last_reason;  // reason of the last termination, such as "OOMKilled"; "": none
  int64_t ended_s = 0;      // Unix time of the last termination; 0: none or unknown
  std::string id = {};      // ID in the container runtime; "": not started yet
  std::string image = {};   // image in the spec, such as "registry/app:1.2"
  // Content of kOwnersAnnotation of a pod or template. Users can write the annotation, so Cluster compares the
  // values with the controller's template and with the nodes before it sets owner_*.
  Amounts noted_requests = {}, noted_limits = {};
  // True if the amounts apply to the whole pod (spec.resources), which then has no other container.
  bool cpu_of_pod = false, memory_of_pod = false;

  bool of_pod(Resource r) const { return r == Resource::kCpu ? cpu_of_pod : memory_of_pod; }
  bool& of_pod(Resource r) { return r == Resource::kCpu ? cpu_of_pod : memory_of_pod; }
  bool was_oom_killed() const { return last_reason == kOomKilled; }
  // Returns true if the owner's amounts are known.
  bool knows_owner() const { return owner_requests != Amounts() || owner_limits != Amounts(); }
};

// The kubelet's progress with the last resize of the pod.
enum class ResizeState : uint8_t {
  kNone,        // the resize is done, or none was requested
  kDeferred,    // the node has no room now, and the kubelet retries
  kInfeasible,  // the node can never have room
  kInProgress,
  kError  // a resize is in progress, and its last attempt failed
};

struct NodeFilter;  // defined in node_filter.h

struct Pod {
  std::string namespace_name, name, uid, node;
  // The only node on which the pod may run, such as for a DaemonSet's pod; "": any number of nodes.
  std::string pinned_node;
  std::shared_ptr<const NodeFilter> nodes;  // nodes on which the pod may run; null: all nodes without taints
  std::string owner_kind, owner_name;       // controller of the pod; "": none
  // Group of the pod if its workload is split (Cluster). "": no group. Absent: the workload was never split.
  std::optional<std::string> group;
  uint64_t regrouped = 0;  // number that increases with each change of the group
  // Program of which the pod is a run: the label or annotation kProgramName, else the Tekton task, else
  // generateName if the pod has no controller. "": none.
  std::string program;
  std::vector<std::pair<std::string, std::string>> labels;
  // Labels and annotations tautline.dev/mode and CONTAINER.tautline.dev/mode that opt out. Each key has the safer
  // value of label and annotation. `refused` contains sentences about other labels and annotations of Tautline,
  // which have no effect.
  std::vector<std::pair<std::string, std::string>> opt_outs = {};
  std::vector<std::string> refused = {};
  std::vector<ContainerState> containers;  // containers in the order of the spec, sidecars first
  // Requests that the scheduler counts in addition to the containers. init_requests: maximum request of init
  // containers at any time, each with the sidecars before it. own_requests: requests of the whole pod
  // (spec.resources). overhead: spec.overhead. See pod_requests.h.
  Amounts init_requests, own_requests, overhead;
  // Names of containers whose usage does not count for the workload: init containers that end, and ephemeral
  // containers.
  std::vector<std::string> left_out;
  // Last OOM kill of each container in left_out, Unix time; containers without a kill are absent.
  std::vector<std::pair<std::string, int64_t>> left_out_kills;
  std::string qos;  // class such as "Guaranteed", "Burstable" or "BestEffort"
  int64_t generation = 0, observed_generation = 0;
  int64_t started_s = 0;  // Unix time at which the kubelet accepted the pod; 0: not yet or unknown
  ResizeState resize = ResizeState::kNone;
  std::string resize_message;
  bool is_ready = false;    // true if the pod serves, according to its probes
  bool is_static = false;   // true if a file on its node defines the pod, so that its resources cannot change
  bool is_ended = false;    // true if the pod succeeded or failed
  bool is_deleted = false;  // true if the pod has a deletionTimestamp
  // True if any program resized the pod in place, or the VPA changed the pod at its creation. The limits are then
  // not the owner's limits.
  bool resized = false;
  // True if Tautline resized the pod in place, or the webhook changed the pod at its creation.
  bool resized_by_us = false;
  bool admitted_by_us = false;  // true if the webhook changed the pod at its creation (kOwnersAnnotation)
  bool owners_known = false;    // true if the owner's amounts of all containers are known (Cluster)
  Amounts pod_requests = {}, pod_limits = {};  // amounts of the whole pod (spec.resources)
};
using PodPtr = std::shared_ptr<const Pod>;
// Returns "NAMESPACE/NAME".
std::string FullName(const Pod& pod);
// Returns the Unix time of the newest OOM kill of any container of the pod; 0 if there is none, or if its time is
// unknown.
int64_t LastOomKill(const Pod& pod);

// Annotation with the owner's requests and limits by container. It exists on pods that the webhook changed
// (admission.h), on templates that Tautline changed, and on their pods (workload_template.h). Example:
// {"app":{"requests":{"cpu":"100m"},"limits":{"cpu":"200m"}}}.
inline constexpr std::string_view kOwnersAnnotation = "tautline.dev/owner-resources";

// Label or annotation of a Job or pod that names the program of which it is a run (OwnerTable).
inline constexpr std::string_view kProgramName = "tautline.dev/job";

// A request of the API server to review a pod before its creation: AdmissionReview of admission.k8s.io/v1.
struct PodReview {
  std::string uid;
  Pod pod;  // pod with the name "" if the API server sets the name later
  bool has_annotations = false;
  bool dry_run = false;  // true: the API server will not create the pod
};
// Parses a review. Returns DataLoss if the text is not JSON, or not a review of a new pod.
absl::StatusOr<PodReview> ParsePodReview(std::string_view body);

// Parses the containers of a workload's pod template, or of the first workload in a list, like the containers of a
// pod without status. Accepts Deployment, StatefulSet, DaemonSet, ReplicaSet, Job and CronJob. owner_* contains
// the owner's amounts, from kOwnersAnnotation if present. Returns DataLoss if the text has no template or is not
// JSON.
absl::StatusOr<std::vector<ContainerState>> ParsePodTemplate(std::string_view body);
// Parses like ParsePodTemplate(), but returns the owner's requests and limits in place of amounts that Tautline
// set.
absl::StatusOr<std::vector<ContainerState>> ParseOwnersTemplate(std::string_view body);

}  // namespace taut::server
