#include "server/kubernetes/client/objects.h"

#include "common/base/strings.h"
#include "common/json/json_tree.h"
#include "server/kubernetes/client/object_fields.h"
#include "server/kubernetes/client/pod_json.h"
#include "server/kubernetes/client/steering_metadata.h"
#include "server/kubernetes/watch/node_filter.h"

namespace taut::server {
namespace {

bool Read(JsonNode at, Pod& pod) { return ReadPod(at, pod); }

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

// Reads metrics of type Resource or ContainerResource that target a utilization.
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

// Returns the annotation that pauses KEDA. Values that are not a boolean also pause (KEDA,
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

// Returns the amount that a ResourceQuota has left. The resource is named `name` or `other`.
std::optional<double> LeftOf(JsonNode status, std::string_view name, std::string_view other) {
  const JsonNode hard = status["hard"], used = status["used"];
  std::optional<double> left;
  for (const std::string_view key : {name, other}) {
    const std::optional<double> most = key.empty() ? std::nullopt : ReadAmount(hard, key);
    if (!most.has_value()) continue;
    const double rest = *most - ReadAmount(used, key).value_or(0);
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
  // In an empty list, `items` may be null or missing.
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
