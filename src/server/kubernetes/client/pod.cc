#include "server/kubernetes/client/pod.h"

#include <algorithm>

#include "absl/time/time.h"
#include "common/base/strings.h"
#include "common/base/utf8.h"
#include "common/json/json_tree.h"
#include "common/model/labels.h"
#include "server/kubernetes/client/api_client.h"
#include "server/kubernetes/client/object_fields.h"
#include "server/kubernetes/client/pod_json.h"
#include "server/kubernetes/client/steering_metadata.h"
#include "server/kubernetes/watch/node_filter.h"

namespace taut::server {
namespace {

// Returns the Tekton task in the labels. The name of a TaskRun is no substitute, because it contains the generated
// name of a PipelineRun.
std::string TektonTask(JsonNode labels) {
  const std::string_view pipeline = labels.Text("tekton.dev/pipeline"),
                         task = labels.Text("tekton.dev/pipelineTask");
  if (!pipeline.empty() && !task.empty()) return StrCat(pipeline, "-", task);
  return std::string(labels.Text("tekton.dev/task"));
}

std::string ProgramOfPod(JsonNode metadata, bool has_owner) {
  std::string out = NamedProgram(metadata);
  if (out.empty()) out = TektonTask(metadata["labels"]);
  return out.empty() && !has_owner ? GeneratedFrom(metadata) : out;
}

ContainerState ReadContainer(JsonNode spec) {
  ContainerState out;
  out.name = spec.Text("name");
  out.image = spec.Text("image");
  const JsonNode resources = spec["resources"];
  out.requests = ReadAmounts(resources, "requests");
  out.limits = ReadAmounts(resources, "limits");
  spec["resizePolicy"].ForEachItem([&](JsonNode policy) {
    if (policy.Text("restartPolicy") != "RestartContainer") return;
    (policy.Text("resourceName") == "memory" ? out.restarts_for_memory : out.restarts_for_cpu) = true;
  });
  return out;
}

// Parses a time such as "2026-02-03T04:05:06Z" to Unix seconds; 0 for other text.
int64_t UnixSeconds(std::string_view text) {
  absl::Time time;
  std::string error;
  return absl::ParseTime(absl::RFC3339_full, std::string(text), &time, &error) ? absl::ToUnixSeconds(time)
                                                                               : 0;
}

void ReadContainerStatus(JsonNode status, Pod& pod) {
  for (ContainerState& container : pod.containers) {
    if (container.name != status.Text("name")) continue;
    container.restarts = status.Whole("restartCount");
    const JsonNode resources = status["resources"];
    container.actual_requests = ReadAmounts(resources, "requests");
    container.actual_limits = ReadAmounts(resources, "limits");
    const std::string_view id = status.Text("containerID");  // ID such as "containerd://4f5a..."
    container.id = id.substr(std::min(id.size(), id.rfind('/') + 1));
    const JsonNode running = status["state"]["running"];
    container.running = static_cast<bool>(running);
    container.crash_loops = status["state"]["waiting"].Text("reason") == "CrashLoopBackOff";
    if (container.running) container.started_s = UnixSeconds(running.Text("startedAt"));
    // The last termination is in `state` while a container waits for its restart, and in `lastState` while it
    // runs.
    for (const char* key : {"lastState", "state"}) {
      const JsonNode ended = status[key]["terminated"];
      if (!ended) continue;
      container.last_reason = ended.Text("reason");
      container.ended_s = UnixSeconds(ended.Text("finishedAt"));
    }
  }
}

// Reads the last OOM kill of a container whose usage does not count for the workload.
void ReadLeftOutKill(JsonNode status, Pod& pod) {
  const std::string_view name = status.Text("name");
  if (std::ranges::find(pod.left_out, name) == pod.left_out.end()) return;
  int64_t killed_s = 0;
  for (const char* key : {"lastState", "state"}) {
    const JsonNode ended = status[key]["terminated"];
    if (ended.Text("reason") == kOomKilled) killed_s = UnixSeconds(ended.Text("finishedAt"));
  }
  if (killed_s > 0) pod.left_out_kills.emplace_back(name, killed_s);
}

void ReadCondition(JsonNode condition, Pod& pod) {
  const std::string_view type = condition.Text("type"), reason = condition.Text("reason");
  if (condition.Text("status") != "True") return;
  pod.is_ready |= type == "Ready";
  if (type == "PodResizePending") {
    pod.resize = reason == "Infeasible" ? ResizeState::kInfeasible : ResizeState::kDeferred;
    pod.resize_message = condition.Text("message");
  } else if (type == "PodResizeInProgress" && pod.resize == ResizeState::kNone) {
    pod.resize = reason == "Error" ? ResizeState::kError : ResizeState::kInProgress;
    pod.resize_message = condition.Text("message");
  }
}

// Returns true for text such as "Pod resources updated by NAME: container 0: cpu request, memory request". The
// list after NAME may be empty.
bool IsChangedByVpa(std::string_view updates) {
  const std::string_view what = updates.substr(std::min(updates.find(':'), updates.size()));
  return what.find("request") != std::string_view::npos || what.find("limit") != std::string_view::npos;
}

void ReadPodMetadata(JsonNode metadata, Pod& pod) {
  pod.namespace_name = metadata.Text("namespace");
  pod.name = metadata.Text("name");
  pod.uid = metadata.Text("uid");
  pod.generation = metadata.Whole("generation");
  pod.is_deleted = !metadata.Text("deletionTimestamp").empty();
  ReadOwner(metadata, pod.owner_kind, pod.owner_name);
  pod.program = ProgramOfPod(metadata, !pod.owner_kind.empty());
  metadata["labels"].ForEachField([&pod](std::string_view key, JsonNode value) {
    if (const auto text = value.text(); text.has_value()) pod.labels.emplace_back(key, *text);
  });
  ReadSteeringMetadata(metadata, pod);
  const JsonNode annotations = metadata["annotations"];
  pod.is_static = static_cast<bool>(annotations["kubernetes.io/config.mirror"]);
  pod.resized = IsChangedByVpa(annotations.Text("vpaUpdates"));
  metadata["managedFields"].ForEachItem([&](JsonNode entry) {
    if (entry.Text("subresource") != "resize") return;
    pod.resized = true;
    pod.resized_by_us |= entry.Text("manager") == kFieldManager;
  });
}

void ReadContainers(JsonNode pod_spec, std::vector<ContainerState>& out) {
  uint32_t index = 0;
  pod_spec["initContainers"].ForEachItem([&](JsonNode container) {
    const uint32_t at = index++;
    if (container.Text("restartPolicy") != "Always") return;
    out.push_back(ReadContainer(container));
    out.back().index = at;
    out.back().is_sidecar = true;
  });
  index = 0;
  pod_spec["containers"].ForEachItem([&](JsonNode c) {
    out.push_back(ReadContainer(c));
    out.back().index = index++;
  });
}

// Reads the resources of the whole pod. A pod's only container receives these resources if it has no resources of
// its own.
void ReadPodLevel(JsonNode spec, std::vector<ContainerState>& containers) {
  const JsonNode resources = spec["resources"];
  if (!resources || containers.size() != 1) return;
  ContainerState& only = containers.front();
  const Amounts requests = ReadAmounts(resources, "requests"), limits = ReadAmounts(resources, "limits");
  for (const Resource r : kPodResources) {
    if (only.requests.of(r).has_value() || only.limits.of(r).has_value()) continue;
    only.of_pod(r) = requests.of(r).has_value() || limits.of(r).has_value();
    only.requests.of(r) = requests.of(r);
    only.limits.of(r) = limits.of(r);
  }
}

// Reads the amounts with which the pod runs. A kubelet that cannot resize whole pods does not report these
// amounts, so the specified amounts are used.
void ReadActualOfPod(JsonNode status, std::vector<ContainerState>& containers) {
  const JsonNode resources = status["resources"];
  for (ContainerState& c : containers) {
    for (const Resource r : kPodResources) {
      if (!c.of_pod(r)) continue;
      // In Kubernetes 1.35, the requests in `resources` keep their values from before a resize.
      const std::optional<double> allocated = ReadAmount(status["allocatedResources"], Name(r));
      c.actual_requests.of(r) = !resources              ? c.requests.of(r)
                                : allocated.has_value() ? allocated
                                                        : ReadAmounts(resources, "requests").of(r);
      c.actual_limits.of(r) = resources ? ReadAmounts(resources, "limits").of(r) : c.limits.of(r);
    }
  }
}

void ReadLeftOut(JsonNode pod_spec, std::vector<std::string>& out) {
  pod_spec["initContainers"].ForEachItem([&](JsonNode container) {
    if (container.Text("restartPolicy") != "Always") out.emplace_back(container.Text("name"));
  });
  pod_spec["ephemeralContainers"].ForEachItem(
      [&](JsonNode container) { out.emplace_back(container.Text("name")); });
}

// Reads the requests that the scheduler counts in addition to the containers. Source: Kubernetes,
// component-helpers/resource, PodRequests.
void ReadPodRequests(JsonNode pod_spec, Pod& pod) {
  pod.own_requests = ReadAmounts(pod_spec["resources"], "requests");
  for (const Resource r : kPodResources) pod.overhead.of(r) = ReadAmount(pod_spec["overhead"], Name(r));
  Amounts sidecars;
  pod_spec["initContainers"].ForEachItem([&](JsonNode container) {
    const Amounts requests = ReadAmounts(container["resources"], "requests");
    const bool goes_on = container.Text("restartPolicy") == "Always";
    for (const Resource r : kPodResources) {
      const double with_sidecars = requests.of(r).value_or(0) + sidecars.of(r).value_or(0);
      if (goes_on) sidecars.of(r) = with_sidecars;
      if (with_sidecars > pod.init_requests.of(r).value_or(0)) pod.init_requests.of(r) = with_sidecars;
    }
  });
}

// Reads the owner's amounts, which were recorded when the webhook changed the pod, or when Tautline changed its
// template. Returns false if there are none.
bool ReadOwnersAmounts(JsonNode metadata, std::vector<ContainerState>& containers) {
  const std::string_view text = metadata["annotations"].Text(kOwnersAnnotation);
  if (text.empty()) return false;
  JsonTree noted;
  if (!noted.Parse(text).ok() || !noted.root().is_object()) return false;
  for (ContainerState& container : containers) {
    const JsonNode of = noted.root()[container.name];
    container.noted_requests = container.owner_requests =
        of ? ReadAmounts(of, "requests") : container.requests;
    container.noted_limits = container.owner_limits = of ? ReadAmounts(of, "limits") : container.limits;
  }
  return true;
}

}  // namespace

bool ReadPod(JsonNode at, Pod& pod) {
  const JsonNode metadata = at["metadata"], spec = at["spec"], status = at["status"];
  if (!metadata) return false;
  ReadPodMetadata(metadata, pod);
  pod.node = spec.Text("nodeName");
  pod.nodes = ReadNodeFilter(spec, pod.pinned_node);
  ReadContainers(spec, pod.containers);
  ReadPodLevel(spec, pod.containers);
  pod.pod_requests = ReadAmounts(spec["resources"], "requests");
  pod.pod_limits = ReadAmounts(spec["resources"], "limits");
  ReadLeftOut(spec, pod.left_out);
  ReadPodRequests(spec, pod);
  if (ReadOwnersAmounts(metadata, pod.containers))
    pod.resized = pod.resized_by_us = pod.admitted_by_us = true;
  if (!status) return true;
  pod.qos = status.Text("qosClass");
  pod.observed_generation = status.Whole("observedGeneration");
  pod.started_s = UnixSeconds(status.Text("startTime"));
  pod.is_ended = status.Text("phase") == "Succeeded" || status.Text("phase") == "Failed";
  for (const char* key : {"initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"}) {
    status[key].ForEachItem([&](JsonNode s) {
      ReadContainerStatus(s, pod);
      ReadLeftOutKill(s, pod);
    });
  }
  ReadActualOfPod(status, pod.containers);
  status["conditions"].ForEachItem([&](JsonNode condition) { ReadCondition(condition, pod); });
  return true;
}

int64_t LastOomKill(const Pod& pod) {
  int64_t last = 0;
  for (const ContainerState& c : pod.containers) last = std::max(last, c.was_oom_killed() ? c.ended_s : 0);
  for (const auto& [name, killed_s] : pod.left_out_kills) last = std::max(last, killed_s);
  return last;
}

std::string FullName(const Pod& pod) { return StrCat(pod.namespace_name, "/", pod.name); }

absl::StatusOr<std::vector<ContainerState>> ParsePodTemplate(std::string_view body) {
  JsonTree tree;
  if (!tree.Parse(body).ok()) return absl::DataLossError("the API server's answer is not JSON");
  const JsonNode root = tree.root(), of_job = root["spec"];
  JsonNode first;
  root["items"].ForEachItem([&first](JsonNode item) {
    if (!first) first = item;
  });
  for (const JsonNode owner : {of_job, of_job["jobTemplate"]["spec"], first["spec"]}) {
    const JsonNode in_template = owner["template"];
    if (!in_template["spec"]) continue;
    std::vector<ContainerState> out;
    ReadContainers(in_template["spec"], out);
    ReadPodLevel(in_template["spec"], out);
    if (ReadOwnersAmounts(in_template["metadata"], out)) return out;
    for (ContainerState& container : out) {
      container.owner_requests = container.requests;
      container.owner_limits = container.limits;
    }
    return out;
  }
  return absl::DataLossError("the object has no pod template");
}

absl::StatusOr<std::vector<ContainerState>> ParseOwnersTemplate(std::string_view body) {
  absl::StatusOr<std::vector<ContainerState>> out = ParsePodTemplate(body);
  if (!out.ok()) return out;
  for (ContainerState& container : *out) {
    container.requests = container.owner_requests;
    container.limits = container.owner_limits;
  }
  return out;
}

absl::StatusOr<PodReview> ParsePodReview(std::string_view body) {
  JsonTree tree;
  if (!tree.Parse(body).ok() || !tree.root().is_object())
    return absl::DataLossError("the AdmissionReview is not a JSON object");
  const JsonNode request = tree.root()["request"], object = request["object"];
  PodReview out;
  if (request["kind"].Text("kind") != "Pod" || request.Text("operation") != "CREATE" ||
      request.Text("uid").empty() || !ReadPod(object, out.pod)) {
    return absl::DataLossError("the request is not an AdmissionReview of a new Pod");
  }
  out.uid = request.Text("uid");
  out.pod.namespace_name = request.Text("namespace");
  out.has_annotations = object["metadata"]["annotations"].is_object();
  out.dry_run = request.Flag("dryRun");
  return out;
}

}  // namespace taut::server
