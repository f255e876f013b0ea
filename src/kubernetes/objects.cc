#include "kubernetes/objects.h"

#include <algorithm>

#include "absl/time/time.h"
#include "base/strings.h"
#include "kubernetes/api_client.h"
#include "kubernetes/quantity.h"
#include "model/labels.h"
#include "simdjson.h"

namespace taut {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using Error = simdjson::error_code;

// "" for what is not there, or no text.
std::string_view Text(const element& at, std::string_view key) {
  std::string_view out;
  return at[key].get_string().get(out) == Error::SUCCESS ? out : std::string_view();
}

int64_t Number(const element& at, std::string_view key) {
  int64_t out = 0;
  return at[key].get_int64().get(out) == Error::SUCCESS ? out : 0;
}

bool Flag(const element& at, std::string_view key) {
  bool out = false;
  return at[key].get_bool().get(out) == Error::SUCCESS && out;
}

// A value that is not there is a null's.
std::optional<element> Child(const element& at, std::string_view key) {
  element out;
  if (at[key].get(out) != Error::SUCCESS) return std::nullopt;
  return out;
}

void ForEach(const std::optional<element>& at, std::string_view key,
             absl::FunctionRef<void(const element&)> fn) {
  array items;
  if (!at.has_value() || (*at)[key].get_array().get(items) != Error::SUCCESS) return;
  for (const element item : items) fn(item);
}

void ReadOwner(const element& metadata, std::string& kind, std::string& name) {
  ForEach(metadata, "ownerReferences", [&](const element& owner) {
    if (!Flag(owner, "controller")) return;
    kind = Text(owner, "kind");
    name = Text(owner, "name");
  });
}

std::optional<double> Amount(const element& at, std::string_view key) {
  const std::optional<element> value = Child(at, key);
  if (!value.has_value()) return std::nullopt;
  std::string_view text;
  if (value->get_string().get(text) == Error::SUCCESS) return ParseQuantity(text);
  double number = 0;
  if (value->get_double().get(number) == Error::SUCCESS) return number;
  return std::nullopt;
}

Amounts ReadAmounts(const std::optional<element>& resources, std::string_view key) {
  Amounts out;
  if (!resources.has_value()) return out;
  const std::optional<element> amounts = Child(*resources, key);
  if (!amounts.has_value()) return out;
  out.cpu = Amount(*amounts, "cpu");
  out.memory = Amount(*amounts, "memory");
  return out;
}

ContainerState ReadContainer(const element& spec) {
  ContainerState out;
  out.name = Text(spec, "name");
  const std::optional<element> resources = Child(spec, "resources");
  out.requests = ReadAmounts(resources, "requests");
  out.limits = ReadAmounts(resources, "limits");
  ForEach(spec, "resizePolicy", [&](const element& policy) {
    if (Text(policy, "restartPolicy") != "RestartContainer") return;
    (Text(policy, "resourceName") == "memory" ? out.restarts_for_memory : out.restarts_for_cpu) = true;
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

void ReadContainerStatus(const element& status, Pod& pod) {
  for (ContainerState& container : pod.containers) {
    if (container.name != Text(status, "name")) continue;
    container.restarts = Number(status, "restartCount");
    const std::optional<element> resources = Child(status, "resources");
    container.actual_requests = ReadAmounts(resources, "requests");
    container.actual_limits = ReadAmounts(resources, "limits");
    const std::optional<element> state = Child(status, "state");
    const std::optional<element> running = state.has_value() ? Child(*state, "running") : std::nullopt;
    container.running = running.has_value();
    if (running.has_value()) container.started_s = UnixSeconds(Text(*running, "startedAt"));
    // What has ended and waits to be started again says so in the state that it is in.
    for (const char* key : {"lastState", "state"}) {
      const std::optional<element> at = Child(status, key);
      const std::optional<element> ended = at.has_value() ? Child(*at, "terminated") : std::nullopt;
      if (ended.has_value()) container.last_reason = Text(*ended, "reason");
    }
  }
}

void ReadCondition(const element& condition, Pod& pod) {
  const std::string_view type = Text(condition, "type"), reason = Text(condition, "reason");
  if (Text(condition, "status") != "True") return;
  if (type == "PodResizePending") {
    pod.resize = reason == "Infeasible" ? ResizeState::kInfeasible : ResizeState::kDeferred;
    pod.resize_message = Text(condition, "message");
  } else if (type == "PodResizeInProgress" && pod.resize == ResizeState::kNone) {
    pod.resize = reason == "Error" ? ResizeState::kError : ResizeState::kInProgress;
    pod.resize_message = Text(condition, "message");
  }
}

// "Pod resources updated by NAME: container 0: cpu request, memory request", of which nothing may be left.
bool IsChangedByVpa(std::string_view updates) {
  const std::string_view what = updates.substr(std::min(updates.find(':'), updates.size()));
  return what.find("request") != std::string_view::npos || what.find("limit") != std::string_view::npos;
}

void ReadPodMetadata(const element& metadata, Pod& pod) {
  pod.namespace_name = Text(metadata, "namespace");
  pod.name = Text(metadata, "name");
  pod.uid = Text(metadata, "uid");
  pod.generation = Number(metadata, "generation");
  pod.is_deleted = !Text(metadata, "deletionTimestamp").empty();
  ReadOwner(metadata, pod.owner_kind, pod.owner_name);
  simdjson::dom::object labels;
  if (metadata["labels"].get_object().get(labels) == Error::SUCCESS) {
    for (const auto& field : labels) {
      std::string_view value;
      if (field.value.get_string().get(value) == Error::SUCCESS) pod.labels.emplace_back(field.key, value);
    }
  }
  const std::optional<element> annotations = Child(metadata, "annotations");
  pod.is_static = annotations.has_value() && Child(*annotations, "kubernetes.io/config.mirror").has_value();
  pod.resized = annotations.has_value() && IsChangedByVpa(Text(*annotations, "vpaUpdates"));
  ForEach(metadata, "managedFields", [&](const element& entry) {
    if (Text(entry, "subresource") != "resize") return;
    pod.resized = true;
    pod.resized_by_us |= Text(entry, "manager") == kFieldManager;
  });
}

void ReadContainers(const std::optional<element>& pod_spec, std::vector<ContainerState>& out) {
  uint32_t index = 0;
  ForEach(pod_spec, "initContainers", [&](const element& container) {
    const uint32_t at = index++;
    if (Text(container, "restartPolicy") != "Always") return;
    out.push_back(ReadContainer(container));
    out.back().index = at;
    out.back().is_sidecar = true;
  });
  index = 0;
  ForEach(pod_spec, "containers", [&](const element& c) {
    out.push_back(ReadContainer(c));
    out.back().index = index++;
  });
}

void ReadLeftOut(const std::optional<element>& pod_spec, std::vector<std::string>& out) {
  ForEach(pod_spec, "initContainers", [&](const element& container) {
    if (Text(container, "restartPolicy") != "Always") out.emplace_back(Text(container, "name"));
  });
  ForEach(pod_spec, "ephemeralContainers",
          [&](const element& container) { out.emplace_back(Text(container, "name")); });
}

// What the webhook noted of the containers when it changed the pod.
void ReadOwnersAmounts(const element& metadata, Pod& pod) {
  const std::optional<element> annotations = Child(metadata, "annotations");
  if (!annotations.has_value()) return;
  const std::string_view text = Text(*annotations, kOwnersAnnotation);
  if (text.empty()) return;
  simdjson::dom::parser parser;
  element noted;
  if (parser.parse(text.data(), text.size()).get(noted) != Error::SUCCESS || !noted.is_object()) return;
  pod.resized = pod.resized_by_us = pod.admitted_by_us = true;
  for (ContainerState& container : pod.containers) {
    const std::optional<element> of = Child(noted, container.name);
    container.owner_requests = of.has_value() ? ReadAmounts(of, "requests") : container.requests;
    container.owner_limits = of.has_value() ? ReadAmounts(of, "limits") : container.limits;
  }
}

bool Read(const element& at, Pod& pod) {
  const std::optional<element> metadata = Child(at, "metadata"), spec = Child(at, "spec"),
                               status = Child(at, "status");
  if (!metadata.has_value()) return false;
  ReadPodMetadata(*metadata, pod);
  if (spec.has_value()) pod.node = Text(*spec, "nodeName");
  ReadContainers(spec, pod.containers);
  ReadLeftOut(spec, pod.left_out);
  ReadOwnersAmounts(*metadata, pod);
  if (!status.has_value()) return true;
  pod.qos = Text(*status, "qosClass");
  pod.observed_generation = Number(*status, "observedGeneration");
  pod.started_s = UnixSeconds(Text(*status, "startTime"));
  pod.is_ended = Text(*status, "phase") == "Succeeded" || Text(*status, "phase") == "Failed";
  for (const char* key : {"initContainerStatuses", "containerStatuses"})
    ForEach(status, key, [&](const element& s) { ReadContainerStatus(s, pod); });
  ForEach(status, "conditions", [&](const element& condition) { ReadCondition(condition, pod); });
  return true;
}

// "tautline.dev/mode" and "app.tautline.dev/mode".
bool IsSteering(std::string_view annotation) {
  const size_t at = annotation.find(kSettingLabel);
  return at == 0 || (at != std::string_view::npos && annotation[at - 1] == '.');
}

bool Read(const element& at, OwnedObject& object) {
  const std::optional<element> metadata = Child(at, "metadata");
  if (!metadata.has_value()) return false;
  object.namespace_name = Text(*metadata, "namespace");
  object.name = Text(*metadata, "name");
  object.uid = Text(*metadata, "uid");
  ReadOwner(*metadata, object.owner_kind, object.owner_name);
  simdjson::dom::object annotations;
  if ((*metadata)["annotations"].get_object().get(annotations) != Error::SUCCESS) return true;
  for (const auto& field : annotations) {
    std::string_view value;
    if (field.value.get_string().get(value) != Error::SUCCESS || !IsSteering(field.key)) continue;
    object.steering.emplace_back(field.key, value);
  }
  return true;
}

bool Read(const element& at, Node& node) {
  const std::optional<element> metadata = Child(at, "metadata"), status = Child(at, "status");
  if (!metadata.has_value()) return false;
  node.name = Text(*metadata, "name");
  node.allocatable = ReadAmounts(status, "allocatable");
  ForEach(status, "conditions", [&](const element& condition) {
    if (Text(condition, "type") == "Ready") node.is_ready = Text(condition, "status") == "True";
  });
  return true;
}

VpaContainerPolicy ReadVpaPolicy(const element& at) {
  VpaContainerPolicy out;
  out.container = Text(at, "containerName");
  out.is_off = Text(at, "mode") == "Off";
  out.min_allowed = ReadAmounts(at, "minAllowed");
  out.max_allowed = ReadAmounts(at, "maxAllowed");
  if (!Child(at, "controlledResources").has_value()) return out;
  out.controls_cpu = out.controls_memory = false;
  ForEach(at, "controlledResources", [&out](const element& resource) {
    std::string_view name;
    if (resource.get_string().get(name) != Error::SUCCESS) return;
    out.controls_cpu |= name == "cpu";
    out.controls_memory |= name == "memory";
  });
  return out;
}

bool Read(const element& at, Vpa& vpa) {
  const std::optional<element> metadata = Child(at, "metadata"), spec = Child(at, "spec");
  if (!metadata.has_value()) return false;
  vpa.namespace_name = Text(*metadata, "namespace");
  vpa.name = Text(*metadata, "name");
  if (!spec.has_value()) return true;
  ForEach(spec, "recommenders", [&vpa](const element& recommender) {
    if (vpa.recommender.empty()) vpa.recommender = Text(recommender, "name");
  });
  if (const std::optional<element> target = Child(*spec, "targetRef"); target.has_value()) {
    vpa.target_kind = Text(*target, "kind");
    vpa.target_name = Text(*target, "name");
  }
  if (const std::optional<element> policy = Child(*spec, "updatePolicy"); policy.has_value())
    vpa.update_mode = Text(*policy, "updateMode");
  ForEach(Child(*spec, "resourcePolicy"), "containerPolicies",
          [&vpa](const element& policy) { vpa.policies.push_back(ReadVpaPolicy(policy)); });
  return true;
}

// Metrics of type Resource and ContainerResource whose target is a utilization.
void ReadMetric(const element& metric, std::vector<UtilizationMetric>& out) {
  for (const char* key : {"resource", "containerResource"}) {
    const std::optional<element> of = Child(metric, key);
    const std::optional<element> target = of.has_value() ? Child(*of, "target") : std::nullopt;
    if (!target.has_value() || Text(*target, "type") != "Utilization") continue;
    const std::string_view name = Text(*of, "name");
    if (name != "cpu" && name != "memory") continue;
    out.push_back({name == "cpu" ? Resource::kCpu : Resource::kMemory, std::string(Text(*of, "container"))});
  }
}

bool Read(const element& at, Hpa& hpa) {
  const std::optional<element> metadata = Child(at, "metadata"), spec = Child(at, "spec");
  if (!metadata.has_value()) return false;
  hpa.namespace_name = Text(*metadata, "namespace");
  hpa.name = Text(*metadata, "name");
  if (!spec.has_value()) return true;
  if (const std::optional<element> target = Child(*spec, "scaleTargetRef"); target.has_value()) {
    hpa.target_kind = Text(*target, "kind");
    hpa.target_name = Text(*target, "name");
  }
  ForEach(spec, "metrics", [&hpa](const element& metric) { ReadMetric(metric, hpa.metrics); });
  return true;
}

// What is left of a ResourceQuota's first of these names, of which either may be used.
std::optional<double> LeftOf(const std::optional<element>& status, std::string_view name,
                             std::string_view other) {
  if (!status.has_value()) return std::nullopt;
  const std::optional<element> hard = Child(*status, "hard"), used = Child(*status, "used");
  if (!hard.has_value()) return std::nullopt;
  std::optional<double> left;
  for (const std::string_view key : {name, other}) {
    const std::optional<double> most = key.empty() ? std::nullopt : Amount(*hard, key);
    if (!most.has_value()) continue;
    const double rest = *most - (used.has_value() ? Amount(*used, key).value_or(0) : 0);
    left = std::min(left.value_or(rest), rest);
  }
  return left;
}

bool Read(const element& at, NamespaceRule& rule) {
  const std::optional<element> metadata = Child(at, "metadata"), spec = Child(at, "spec"),
                               status = Child(at, "status");
  if (!metadata.has_value()) return false;
  rule.namespace_name = Text(*metadata, "namespace");
  rule.name = Text(*metadata, "name");
  ForEach(spec, "limits", [&rule](const element& limit) {
    const std::string_view type = Text(limit, "type");
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

std::string VersionOf(const element& at) {
  const std::optional<element> metadata = Child(at, "metadata");
  return metadata.has_value() ? std::string(Text(*metadata, "resourceVersion")) : "";
}

}  // namespace

absl::StatusOr<std::vector<ContainerState>> ParsePodTemplate(std::string_view body) {
  simdjson::dom::parser parser;
  element at;
  if (parser.parse(body.data(), body.size()).get(at) != Error::SUCCESS) {
    return absl::DataLossError("the API server's answer is not JSON");
  }
  for (const char* path : {"/spec/template/spec", "/spec/jobTemplate/spec/template/spec"}) {
    element spec;
    if (at.at_pointer(path).get(spec) != Error::SUCCESS) continue;
    std::vector<ContainerState> out;
    ReadContainers(spec, out);
    return out;
  }
  return absl::DataLossError("the object has no pod template");
}

absl::StatusOr<PodReview> ParsePodReview(std::string_view body) {
  simdjson::dom::parser parser;
  element root;
  if (parser.parse(body.data(), body.size()).get(root) != Error::SUCCESS || !root.is_object())
    return absl::DataLossError("the AdmissionReview is not a JSON object");
  const std::optional<element> request = Child(root, "request");
  const std::optional<element> object = request.has_value() ? Child(*request, "object") : std::nullopt;
  const std::optional<element> kind = request.has_value() ? Child(*request, "kind") : std::nullopt;
  PodReview out;
  if (!object.has_value() || !kind.has_value() || Text(*kind, "kind") != "Pod" ||
      Text(*request, "operation") != "CREATE" || Text(*request, "uid").empty() || !Read(*object, out.pod)) {
    return absl::DataLossError("the request is not an AdmissionReview of a new Pod");
  }
  out.uid = Text(*request, "uid");
  out.pod.namespace_name = Text(*request, "namespace");
  const std::optional<element> annotations = Child(*Child(*object, "metadata"), "annotations");
  out.has_annotations = annotations.has_value() && annotations->is_object();
  return out;
}

struct ObjectParser::Impl {
  simdjson::dom::parser parser;
  element root;

  absl::Status Load(std::string_view text) {
    const Error error = parser.parse(text.data(), text.size()).get(root);
    if (error == Error::SUCCESS && root.is_object()) return absl::OkStatus();
    return absl::DataLossError(
        StrCat("the API server's answer is not a JSON object",
               error == Error::SUCCESS ? "" : StrCat(": ", simdjson::error_message(error))));
  }
};

ObjectParser::ObjectParser() : impl_(std::make_unique<Impl>()) {}
ObjectParser::~ObjectParser() = default;

template <typename Object>
absl::Status ObjectParser::ParseList(std::string_view body, ListMeta& meta,
                                     absl::FunctionRef<void(Object&&)> fn) {
  if (absl::Status s = impl_->Load(body); !s.ok()) return s;
  array items;
  const std::optional<element> metadata = Child(impl_->root, "metadata");
  // A list of nothing may have null for its items, or none.
  const std::optional<element> list = Child(impl_->root, "items");
  const bool is_empty = !list.has_value() || list->is_null();
  if (!metadata.has_value() || !Text(impl_->root, "kind").ends_with("List") ||
      (!is_empty && list->get_array().get(items) != Error::SUCCESS)) {
    return absl::DataLossError("the API server's answer is not a list");
  }
  meta.resource_version = Text(*metadata, "resourceVersion");
  meta.next = Text(*metadata, "continue");
  if (is_empty) return absl::OkStatus();
  for (const element item : items) {
    Object object;
    if (!Read(item, object)) return absl::DataLossError("an item of the list has no metadata");
    fn(std::move(object));
  }
  return absl::OkStatus();
}

template <typename Object>
absl::Status ObjectParser::ParseWatch(std::string_view line, WatchMeta& meta, Object& object) {
  if (absl::Status s = impl_->Load(line); !s.ok()) return s;
  const std::string_view type = Text(impl_->root, "type");
  const std::optional<element> at = Child(impl_->root, "object");
  if (!at.has_value()) return absl::DataLossError("an event of the watch has no object");
  meta = WatchMeta();
  if (type == "ERROR") {
    meta.error_code = static_cast<int>(Number(*at, "code"));
    meta.error = Text(*at, "message");
    return absl::OkStatus();
  }
  meta.resource_version = VersionOf(*at);
  if (type == "BOOKMARK") {
    meta.event = WatchEvent::kBookmark;
    return absl::OkStatus();
  }
  meta.event = type == "DELETED" ? WatchEvent::kDeleted : WatchEvent::kPut;
  return Read(*at, object) ? absl::OkStatus() : absl::DataLossError("an object of the watch has no metadata");
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
TAUT_OBJECT(NamespaceRule)
#undef TAUT_OBJECT

}  // namespace taut
