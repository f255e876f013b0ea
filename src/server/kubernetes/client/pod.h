// Tautline's view of a pod and its containers.
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

// Resources with amounts per container.
inline constexpr std::array kPodResources = {Resource::kCpu, Resource::kMemory};

// CPU in cores, memory in bytes; absent: not set.
struct Amounts {
  std::optional<double> cpu, memory;

  const std::optional<double>& of(Resource r) const { return r == Resource::kCpu ? cpu : memory; }
  std::optional<double>& of(Resource r) { return r == Resource::kCpu ? cpu : memory; }
  bool operator==(const Amounts&) const = default;
};

// Reason for which a container ended, as the API server writes it.
inline constexpr std::string_view kOomKilled = "OOMKilled";

struct ContainerState {
  std::string name;
  uint32_t index = 0;  // position in its list of the pod's spec
  // Amounts in the specification, and those that the kubelet reports; the latter are absent before it runs.
  Amounts requests, limits;
  Amounts actual_requests, actual_limits;
  // Amounts before the pod was resized, as far as that was seen (Cluster).
  Amounts owner_requests, owner_limits;
  bool is_sidecar = false;           // an init container that keeps running
  bool restarts_for_memory = false;  // its resizePolicy restarts it when memory changes
  bool restarts_for_cpu = false;
  bool running = false;
  bool crash_loops = false;  // it has ended, and the kubelet delays its restart
  int64_t started_s = 0;     // Unix time of its last start while it runs; 0: unknown
  int64_t restarts = 0;
  std::string last_reason;  // reason of its last end, "OOMKilled"; "": none
  int64_t ended_s = 0;      // Unix time of its last end; 0: none or unknown
  std::string id = {};      // the runtime's id; "": not started yet
  std::string image = {};   // as in its spec: "registry/app:1.2"
  // Content of kOwnersAnnotation of a pod or template. Users can write it, so Cluster compares a pod's values
  // with its controller's template and the nodes before it sets owner_*.
  Amounts noted_requests = {}, noted_limits = {};
  // The container's amounts are those of the pod (spec.resources), whose only container it is.
  bool cpu_of_pod = false, memory_of_pod = false;

  bool of_pod(Resource r) const { return r == Resource::kCpu ? cpu_of_pod : memory_of_pod; }
  bool& of_pod(Resource r) { return r == Resource::kCpu ? cpu_of_pod : memory_of_pod; }
  bool was_oom_killed() const { return last_reason == kOomKilled; }
  // True if the owner's amounts are known.
  bool knows_owner() const { return owner_requests != Amounts() || owner_limits != Amounts(); }
};

// The kubelet's progress with the pod's last change of resources.
enum class ResizeState : uint8_t {
  kNone,        // done, or nothing was requested
  kDeferred,    // no room on the node now; the kubelet retries
  kInfeasible,  // the node can never have room
  kInProgress,
  kError  // in progress, and the last attempt failed
};

struct NodeFilter;  // node_filter.h

struct Pod {
  std::string namespace_name, name, uid, node;
  // The only node on which it may run, as for a DaemonSet's pod; "": there may be others.
  std::string pinned_node;
  std::shared_ptr<const NodeFilter> nodes;  // nodes on which it may run; null: all without taints
  std::string owner_kind, owner_name;       // its controller; "": none
  // Group of a pod whose workload is split (Cluster); "": none. Absent: the workload was never split.
  std::optional<std::string> group;
  uint64_t regrouped = 0;  // increases with each change of the group
  // Program of which it is a run: its label or annotation kProgramName, else its Tekton task, else
  // generateName if it has no controller. "": none.
  std::string program;
  std::vector<std::pair<std::string, std::string>> labels;
  // Labels and annotations tautline.dev/mode and CONTAINER.tautline.dev/mode that opt out, the safer one of
  // each key. `refused`: sentences about other such names, which are not used.
  std::vector<std::pair<std::string, std::string>> opt_outs = {};
  std::vector<std::string> refused = {};
  std::vector<ContainerState> containers;  // in order, sidecars first
  // Highest request of init containers at a time, each with the sidecars before it; requests of the whole pod
  // (spec.resources); and spec.overhead. See pod_requests.h.
  Amounts init_requests, own_requests, overhead;
  // Names of the other containers, whose usage does not count for the workload: init containers that end, and
  // ephemeral ones.
  std::vector<std::string> left_out;
  // Last OOM kill of each of these, with its Unix time.
  std::vector<std::pair<std::string, int64_t>> left_out_kills;
  std::string qos;  // "Guaranteed", "Burstable", "BestEffort"
  int64_t generation = 0, observed_generation = 0;
  int64_t started_s = 0;  // Unix time at which the kubelet accepted it; 0: not yet or unknown
  ResizeState resize = ResizeState::kNone;
  std::string resize_message;
  bool is_ready = false;    // serves, according to its probes
  bool is_static = false;   // from a file on its node: its resources cannot change
  bool is_ended = false;    // succeeded or failed
  bool is_deleted = false;  // has a deletionTimestamp
  // resized in place by anyone, or by the VPA at its start: its limits are not the owner's
  bool resized = false;
  bool resized_by_us = false;                  // in place, or by the webhook at its creation
  bool admitted_by_us = false;                 // the latter, according to its kOwnersAnnotation
  bool owners_known = false;                   // the owner's amounts of its containers are known (Cluster)
  Amounts pod_requests = {}, pod_limits = {};  // of the whole pod (spec.resources)
};
using PodPtr = std::shared_ptr<const Pod>;
// "NAMESPACE/NAME".
std::string FullName(const Pod& pod);
// Returns the Unix time of the newest OOM kill of any container of the pod; 0: none or unknown.
int64_t LastOomKill(const Pod& pod);

// The owner's requests and limits by container, for a pod that the webhook changed at its creation
// (admission.h), or a template in which Tautline set them, and its pods (workload_template.h):
// {"app":{"requests":{"cpu":"100m"},"limits":{"cpu":"200m"}}}.
inline constexpr std::string_view kOwnersAnnotation = "tautline.dev/owner-resources";

// Label or annotation of a Job or of pods that names the program of which they are runs (OwnerTable).
inline constexpr std::string_view kProgramName = "tautline.dev/job";

// The API server's request before it creates a pod: AdmissionReview of admission.k8s.io/v1.
struct PodReview {
  std::string uid;
  Pod pod;  // its name may be "": it is set later
  bool has_annotations = false;
  bool dry_run = false;  // nothing is created
};
// DataLoss if the text is not JSON or not a review of a new pod.
absl::StatusOr<PodReview> ParsePodReview(std::string_view body);

// Parses the containers of a workload's pod template (Deployment, StatefulSet, DaemonSet, ReplicaSet, Job,
// CronJob), or of the first in a list, as those of Pod without status. owner_*: the owner's amounts, from
// kOwnersAnnotation if present. DataLoss if there is no template, or the text is not JSON.
absl::StatusOr<std::vector<ContainerState>> ParsePodTemplate(std::string_view body);
// As above, with the owner's requests and limits in place of those that Tautline set.
absl::StatusOr<std::vector<ContainerState>> ParseOwnersTemplate(std::string_view body);

}  // namespace taut::server
