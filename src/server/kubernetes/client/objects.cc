#include "server/kubernetes/client/objects.h"

#include <algorithm>

#include "absl/time/time.h"
#include "common/base/strings.h"
#include "common/base/utf8.h"
#include "common/json/json_tree.h"
#include "common/model/labels.h"
#include "server/ingest/owners.h"
#include "server/kubernetes/client/api_client.h"
#include "server/kubernetes/client/quantity.h"
#include "server/kubernetes/client/steering_metadata.h"
#include "server/kubernetes/watch/node_filter.h"

namespace taut::server {
namespace {

// Anybody may write them, with any text: what cannot be a name in Kubernetes owns nothing.
void ReadOwner(JsonNode metadata, std::string& kind, std::string& name) {
  metadata["ownerReferences"].ForEachItem([&](JsonNode owner) {
    if (!owner.Flag("controller") || !IsProgramName(owner.Text("name")) || !IsProgramName(owner.Text("kind")))
      return;
    kind = owner.Text("kind");
    name = owner.Text("name");
  });
}

// What a label or annotation names; "": nothing that can be part of a job's name.
std::string NamedProgram(JsonNode metadata) {
  for (const char* where : {"labels", "annotations"}) {
    const std::string_view name = metadata[where].Text(kProgramName);
    if (IsProgramName(name)) return std::string(name);
  }
  return "";
}

// Of "import-", to which the API server adds five letters for each run.
std::string GeneratedFrom(JsonNode metadata) {
  std::string_view name = metadata.Text("generateName");
  while (name.ends_with('-') || name.ends_with('.')) name.remove_suffix(1);
  return std::string(WithoutRunSuffix(name));
}

// Tekton's TaskRuns have names of their PipelineRuns in them, which are generated.
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

std::optional<double> Amount(JsonNode at, std::string_view key) {
  const JsonNode value = at[key];
  const std::optional<std::string_view> text = value.text();
  return text.has_value() ? ParseQuantity(*text) : value.number();
}

Amounts ReadAmounts(JsonNode resources, std::string_view key) {
  const JsonNode amounts = resources[key];
  return {Amount(amounts, "cpu"), Amount(amounts, "memory")};
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

// Of "2026-02-03T04:05:06Z"; 0 for anything else.
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
    const std::string_view id = status.Text("containerID");  // "containerd://4f5a..."
    container.id = id.substr(std::min(id.size(), id.rfind('/') + 1));
    const JsonNode running = status["state"]["running"];
    container.running = static_cast<bool>(running);
    container.crash_loops = status["state"]["waiting"].Text("reason") == "CrashLoopBackOff";
    if (container.running) container.started_s = UnixSeconds(running.Text("startedAt"));
    // What has ended and waits to be started again says so in the state that it is in.
    for (const char* key : {"lastState", "state"}) {
      const JsonNode ended = status[key]["terminated"];
      if (!ended) continue;
      container.last_reason = ended.Text("reason");
      container.ended_s = UnixSeconds(ended.Text("finishedAt"));
    }
  }
}

// Of a container whose usage is not the workload's.
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

// "Pod resources updated by NAME: container 0: cpu request, memory request", of which nothing may be left.
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

// Resources of the pod as a whole are those of its only container, where this one has none of its own.
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

// A kubelet that does not resize pods as a whole does not report what they run with: what is asked for.
void ReadActualOfPod(JsonNode status, std::vector<ContainerState>& containers) {
  const JsonNode resources = status["resources"];
  for (ContainerState& c : containers) {
    for (const Resource r : kPodResources) {
      if (!c.of_pod(r)) continue;
      // The requests of `resources` stay those of before a resize: Kubernetes 1.35.
      const std::optional<double> allocated = Amount(status["allocatedResources"], Name(r));
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

// Source: Kubernetes, component-helpers/resource: PodRequests.
void ReadPodRequests(JsonNode pod_spec, Pod& pod) {
  pod.own_requests = ReadAmounts(pod_spec["resources"], "requests");
  for (const Resource r : kPodResources) pod.overhead.of(r) = Amount(pod_spec["overhead"], Name(r));
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

// What was noted of the containers when the webhook changed the pod, or Tautline its template. False: nothing.
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

bool Read(JsonNode at, Pod& pod) {
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

bool Read(JsonNode at, OwnedObject& object) {
  const JsonNode metadata = at["metadata"];
  if (!metadata) return false;
  object.namespace_name = metadata.Text("namespace");
  object.name = metadata.Text("name");
  object.uid = metadata.Text("uid");
  ReadOwner(metadata, object.owner_kind, object.owner_name);
  object.program = NamedProgram(metadata);
  if (object.program.empty()) object.program = GeneratedFrom(metadata);
  ReadSteeringMetadata(metadata, object);
  return true;
}

bool Read(JsonNode at, Node& node) { return ReadNode(at, node); }

VpaContainerPolicy ReadVpaPolicy(JsonNode at) {
  VpaContainerPolicy out;
  out.container = at.Text("containerName");
  out.is_off = at.Text("mode") == "Off";
  out.requests_only = at.Text("controlledValues") == "RequestsOnly";
  out.min_allowed = ReadAmounts(at, "minAllowed");
  out.max_allowed = ReadAmounts(at, "maxAllowed");
  const JsonNode controlled = at["controlledResources"];
  if (!controlled) return out;
  out.controls_cpu = out.controls_memory = false;
  controlled.ForEachItem([&out](JsonNode resource) {
    const std::optional<std::string_view> name = resource.text();
    out.controls_cpu |= name == "cpu";
    out.controls_memory |= name == "memory";
  });
  return out;
}

bool Read(JsonNode at, Vpa& vpa) {
  const JsonNode metadata = at["metadata"], spec = at["spec"];
  if (!metadata) return false;
  vpa.namespace_name = metadata.Text("namespace");
  vpa.name = metadata.Text("name");
  if (!spec) return true;
  spec["recommenders"].ForEachItem([&vpa](JsonNode recommender) {
    if (vpa.recommender.empty()) vpa.recommender = recommender.Text("name");
  });
  if (const JsonNode target = spec["targetRef"]; target) {
    vpa.target_kind = target.Text("kind");
    vpa.target_name = target.Text("name");
  }
  if (const JsonNode policy = spec["updatePolicy"]; policy) vpa.update_mode = policy.Text("updateMode");
  spec["resourcePolicy"]["containerPolicies"].ForEachItem(
      [&vpa](JsonNode policy) { vpa.policies.push_back(ReadVpaPolicy(policy)); });
  return true;
}

// Metrics of type Resource and ContainerResource whose target is a utilization.
void ReadMetric(JsonNode metric, std::vector<UtilizationMetric>& out) {
  for (const char* key : {"resource", "containerResource"}) {
    const JsonNode of = metric[key];
    const JsonNode target = of["target"];
    if (target.Text("type") != "Utilization") continue;
    const std::string_view name = of.Text("name");
    if (name != "cpu" && name != "memory") continue;
    out.push_back({name == "cpu" ? Resource::kCpu : Resource::kMemory, std::string(of.Text("container"))});
  }
}

bool Read(JsonNode at, Hpa& hpa) {
  const JsonNode metadata = at["metadata"], spec = at["spec"];
  if (!metadata) return false;
  hpa.namespace_name = metadata.Text("namespace");
  hpa.name = metadata.Text("name");
  if (!spec) return true;
  if (const JsonNode target = spec["scaleTargetRef"]; target) {
    hpa.target_kind = target.Text("kind");
    hpa.target_name = target.Text("name");
  }
  spec["metrics"].ForEachItem([&hpa](JsonNode metric) { ReadMetric(metric, hpa.metrics); });
  return true;
}

// The annotation by which KEDA stops scaling. One that is no boolean pauses, too (KEDA,
// apis/keda/v1alpha1/scaledobject_types.go).
std::string PausedBy(JsonNode annotations) {
  constexpr std::string_view kPaused = "autoscaling.keda.sh/paused";
  constexpr std::string_view kPausedReplicas = "autoscaling.keda.sh/paused-replicas";
  if (const auto replicas = annotations[kPausedReplicas].text(); replicas.has_value())
    return StrCat(kPausedReplicas, ": ", *replicas);
  const auto paused = annotations[kPaused].text();
  if (!paused.has_value()) return "";
  for (const std::string_view no : {"0", "f", "F", "false", "False", "FALSE"}) {
    if (*paused == no) return "";
  }
  return StrCat(kPaused, ": ", *paused);
}

bool Read(JsonNode at, KedaScaledObject& object) {
  const JsonNode metadata = at["metadata"], target = at["spec"]["scaleTargetRef"];
  if (!metadata) return false;
  object.namespace_name = metadata.Text("namespace");
  object.name = metadata.Text("name");
  object.paused_by = PausedBy(metadata["annotations"]);
  object.target_kind = target.Text("kind");
  if (object.target_kind.empty()) object.target_kind = "Deployment";
  object.target_name = target.Text("name");
  return true;
}

// What is left of a ResourceQuota's first of these names, of which either may be used.
std::optional<double> LeftOf(JsonNode status, std::string_view name, std::string_view other) {
  const JsonNode hard = status["hard"], used = status["used"];
  std::optional<double> left;
  for (const std::string_view key : {name, other}) {
    const std::optional<double> most = key.empty() ? std::nullopt : Amount(hard, key);
    if (!most.has_value()) continue;
    const double rest = *most - Amount(used, key).value_or(0);
    left = std::min(left.value_or(rest), rest);
  }
  return left;
}

bool Read(JsonNode at, NamespaceRule& rule) {
  const JsonNode metadata = at["metadata"], spec = at["spec"], status = at["status"];
  if (!metadata) return false;
  rule.namespace_name = metadata.Text("namespace");
  rule.name = metadata.Text("name");
  spec["limits"].ForEachItem([&rule](JsonNode limit) {
    const std::string_view type = limit.Text("type");
    if (type != "Container" && type != "Pod") return;
    AmountRange& range = type == "Pod" ? rule.pod : rule.container;
    range.min = ReadAmounts(limit, "min");
    range.max = ReadAmounts(limit, "max");
    range.max_limit_request_ratio = ReadAmounts(limit, "maxLimitRequestRatio");
  });
  rule.requests_left = {LeftOf(status, "requests.cpu", "cpu"), LeftOf(status, "requests.memory", "memory")};
  rule.limits_left = {LeftOf(status, "limits.cpu", ""), LeftOf(status, "limits.memory", "")};
  return true;
}

std::string VersionOf(JsonNode at) { return std::string(at["metadata"].Text("resourceVersion")); }

}  // namespace

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
      request.Text("uid").empty() || !Read(object, out.pod)) {
    return absl::DataLossError("the request is not an AdmissionReview of a new Pod");
  }
  out.uid = request.Text("uid");
  out.pod.namespace_name = request.Text("namespace");
  out.has_annotations = object["metadata"]["annotations"].is_object();
  out.dry_run = request.Flag("dryRun");
  return out;
}

struct ObjectParser::Impl {
  JsonTree tree;

  absl::Status Load(std::string_view text) {
    const absl::Status s = tree.Parse(text);
    if (s.ok() && tree.root().is_object()) return s;
    return absl::DataLossError(
        StrCat("the API server's answer is not a JSON object", s.ok() ? "" : StrCat(": ", Message(s))));
  }
};

ObjectParser::ObjectParser() : impl_(std::make_unique<Impl>()) {}
ObjectParser::~ObjectParser() = default;

template <typename Object>
absl::Status ObjectParser::ParseList(std::string_view body, ListMeta& meta,
                                     absl::FunctionRef<void(Object&&)> fn) {
  if (absl::Status s = impl_->Load(body); !s.ok()) return s;
  const JsonNode root = impl_->tree.root(), metadata = root["metadata"], items = root["items"];
  // A list of nothing may have null for its items, or none.
  const bool is_empty = !items || items.is_null();
  if (!metadata || !root.Text("kind").ends_with("List") || (!is_empty && !items.is_array()))
    return absl::DataLossError("the API server's answer is not a list");
  meta.resource_version = metadata.Text("resourceVersion");
  meta.next = metadata.Text("continue");
  absl::Status read;
  items.ForEachItem([&](JsonNode item) {
    if (!read.ok()) return;
    Object object;
    if (Read(item, object)) {
      fn(std::move(object));
    } else {
      read = absl::DataLossError("an item of the list has no metadata");
    }
  });
  return read;
}

template <typename Object>
absl::Status ObjectParser::ParseWatch(std::string_view line, WatchMeta& meta, Object& object) {
  if (absl::Status s = impl_->Load(line); !s.ok()) return s;
  const std::string_view type = impl_->tree.root().Text("type");
  const JsonNode at = impl_->tree.root()["object"];
  if (!at) return absl::DataLossError("an event of the watch has no object");
  meta = WatchMeta();
  if (type == "ERROR") {
    meta.error_code = static_cast<int>(at.Whole("code"));
    meta.error = at.Text("message");
    return absl::OkStatus();
  }
  meta.resource_version = VersionOf(at);
  if (type == "BOOKMARK") {
    meta.event = WatchEvent::kBookmark;
    return absl::OkStatus();
  }
  meta.event = type == "DELETED" ? WatchEvent::kDeleted : WatchEvent::kPut;
  return Read(at, object) ? absl::OkStatus() : absl::DataLossError("an object of the watch has no metadata");
}

#define TAUT_OBJECT(type)                                                                \
  template absl::Status ObjectParser::ParseList<type>(std::string_view, ListMeta&,       \
                                                      absl::FunctionRef<void(type &&)>); \
  template absl::Status ObjectParser::ParseWatch<type>(std::string_view, WatchMeta&, type&);
TAUT_OBJECT(Pod)
TAUT_OBJECT(OwnedObject)
TAUT_OBJECT(Node)
TAUT_OBJECT(Vpa)
TAUT_OBJECT(Hpa)
TAUT_OBJECT(KedaScaledObject)
TAUT_OBJECT(NamespaceRule)
#undef TAUT_OBJECT

}  // namespace taut::server
