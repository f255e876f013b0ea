// What Tautline keeps of a pod and its containers.
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

// Those that containers are given here.
inline constexpr std::array kPodResources = {Resource::kCpu, Resource::kMemory};

// Of CPU in cores, of memory in bytes; absent: not set.
struct Amounts {
  std::optional<double> cpu, memory;

  const std::optional<double>& of(Resource r) const { return r == Resource::kCpu ? cpu : memory; }
  std::optional<double>& of(Resource r) { return r == Resource::kCpu ? cpu : memory; }
  bool operator==(const Amounts&) const = default;
};

// Why a container ended, in the words of the API server.
inline constexpr std::string_view kOomKilled = "OOMKilled";

struct ContainerState {
  std::string name;
  uint32_t index = 0;  // in its list of the pod's spec
  // As the object wants it, and as the kubelet reports that it is; the latter absent before it runs.
  Amounts requests, limits;
  Amounts actual_requests, actual_limits;
  // Before the pod was resized, as far as that was seen (Cluster).
  Amounts owner_requests, owner_limits;
  bool is_sidecar = false;           // an init container that goes on
  bool restarts_for_memory = false;  // its resizePolicy restarts it when memory changes, or CPU
  bool restarts_for_cpu = false;
  bool running = false;
  bool crash_loops = false;  // it has ended, and the kubelet waits before it starts it again
  int64_t started_s = 0;     // Unix time of its last start, while it runs; 0: not known
  int64_t restarts = 0;
  std::string last_reason;  // why it ended last, "OOMKilled"; "": it did not
  int64_t ended_s = 0;      // Unix time of its last end; 0: none, or not known
  std::string id = {};      // by which its runtime knows it; "": not started yet
  std::string image = {};   // as its spec names it, "registry/app:1.2"
  // Of a pod or template: what kOwnersAnnotation says, which anybody can write. Cluster compares a pod's with the
  // template of its controller and with the nodes before it becomes owner_*.
  Amounts noted_requests = {}, noted_limits = {};
  // Its amounts of the resource are those of the pod (spec.resources), whose only container it is.
  bool cpu_of_pod = false, memory_of_pod = false;

  bool of_pod(Resource r) const { return r == Resource::kCpu ? cpu_of_pod : memory_of_pod; }
  bool& of_pod(Resource r) { return r == Resource::kCpu ? cpu_of_pod : memory_of_pod; }
  bool was_oom_killed() const { return last_reason == kOomKilled; }
  // Whether it is known what its owner wants.
  bool knows_owner() const { return owner_requests != Amounts() || owner_limits != Amounts(); }
};

// How far the kubelet is with the pod's last change of resources.
enum class ResizeState : uint8_t {
  kNone,        // done, or nothing asked
  kDeferred,    // the node has no room now; the kubelet tries again
  kInfeasible,  // the node never has room
  kInProgress,
  kError  // in progress, and the last attempt failed
};

struct NodeFilter;  // node_filter.h

struct Pod {
  std::string namespace_name, name, uid, node;
  std::string
      pinned_node;  // the only one that it may run on, as that of a DaemonSet; "": there may be others
  std::shared_ptr<const NodeFilter> nodes;  // that it may run on; null: all without taints
  std::string owner_kind, owner_name;       // its controller; "": none
  // Of its workload's pods, where these are split (Cluster): "": it is of none. Absent: they never were.
  std::optional<std::string> group;
  uint64_t regrouped = 0;  // grows when it gets another group
  // The program that it is a run of: its label or annotation kProgramName, else its Tekton task, else, without a
  // controller, its generateName; "": it names none.
  std::string program;
  std::vector<std::pair<std::string, std::string>> labels;
  // Its labels and annotations tautline.dev/mode and CONTAINER.tautline.dev/mode that opt out, the safer one of
  // each key; and sentences about others of such names, which are not used.
  std::vector<std::pair<std::string, std::string>> opt_outs = {};
  std::vector<std::string> refused = {};
  std::vector<ContainerState> containers;  // in their order, sidecars first
  // The most that init containers request at a time, each with the sidecars before it; of the pod as a whole
  // (spec.resources); and for what runs it (spec.overhead). See pod_requests.h.
  Amounts init_requests, own_requests, overhead;
  // Names of the other ones, whose usage is not the workload's: init containers that end, and ephemeral ones.
  std::vector<std::string> left_out;
  // Of those the last OOM kill, by its Unix time.
  std::vector<std::pair<std::string, int64_t>> left_out_kills;
  std::string qos;  // "Guaranteed", "Burstable", "BestEffort"
  int64_t generation = 0, observed_generation = 0;
  int64_t started_s = 0;  // Unix time at which its kubelet took it; 0: not yet, or not known
  ResizeState resize = ResizeState::kNone;
  std::string resize_message;
  bool is_ready = false;    // serves, as its probes say
  bool is_static = false;   // of a file of its node: its resources cannot change
  bool is_ended = false;    // succeeded or failed
  bool is_deleted = false;  // has a deletionTimestamp
  bool resized = false;     // by anybody in place, or by the VPA at its start: its limits are not its owner's
  bool resized_by_us = false;                  // in place, or by the webhook at its creation
  bool admitted_by_us = false;                 // the latter, as its kOwnersAnnotation says
  bool owners_known = false;                   // what its owner wants of its containers (Cluster)
  Amounts pod_requests = {}, pod_limits = {};  // of the pod as a whole (spec.resources)
};
using PodPtr = std::shared_ptr<const Pod>;
// "NAMESPACE/NAME".
std::string FullName(const Pod& pod);
// The Unix time of the newest OOM kill of a container of the pod, of any kind; 0: none, or not known.
int64_t LastOomKill(const Pod& pod);

// The owner's requests and limits of a pod that the webhook has changed at its creation (admission.h), or of a
// template in which Tautline has set them and its pods (workload_template.h), by container:
// {"app":{"requests":{"cpu":"100m"},"limits":{"cpu":"200m"}}}.
inline constexpr std::string_view kOwnersAnnotation = "tautline.dev/owner-resources";

// A label or annotation of a Job, or of pods, that names the program that they are runs of (OwnerTable).
inline constexpr std::string_view kProgramName = "tautline.dev/job";

// What the API server asks before it creates a pod: AdmissionReview of admission.k8s.io/v1.
struct PodReview {
  std::string uid;
  Pod pod;  // its name may be "": it gets one later
  bool has_annotations = false;
  bool dry_run = false;  // nothing is created
};
// DataLoss: not JSON, or no review of a new pod.
absl::StatusOr<PodReview> ParsePodReview(std::string_view body);

// The containers of the pod template of a workload (Deployment, StatefulSet, DaemonSet, ReplicaSet, Job, CronJob),
// or of the first of a list of them, as those of Pod, without their status; owner_*: what their owner wants, by
// kOwnersAnnotation where it is there. DataLoss: it is none, or not JSON.
absl::StatusOr<std::vector<ContainerState>> ParsePodTemplate(std::string_view body);
// The same with the owner's requests and limits in place of those that Tautline has set.
absl::StatusOr<std::vector<ContainerState>> ParseOwnersTemplate(std::string_view body);

}  // namespace taut::server
