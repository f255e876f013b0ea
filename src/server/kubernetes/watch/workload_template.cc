#include "server/kubernetes/watch/workload_template.h"

#include <algorithm>

#include "absl/time/time.h"
#include "common/base/json_writer.h"
#include "common/base/strings.h"
#include "common/json/json_tree.h"
#include "server/kubernetes/admission/admission.h"
#include "server/kubernetes/client/api_client.h"
#include "server/kubernetes/client/quantity.h"

namespace taut::server {
namespace {

struct RolledKind {
  std::string_view name, kind;
};
constexpr RolledKind kRolledKinds[] = {
    {"deployment", "Deployment"}, {"statefulset", "StatefulSet"}, {"daemonset", "DaemonSet"}};

const RolledKind* FindKind(std::string_view name) {
  const auto* it = std::ranges::find(kRolledKinds, name, &RolledKind::name);
  return it == std::end(kRolledKinds) ? nullptr : it;
}

struct GitOpsMark {
  std::string_view in, key, who;
};
constexpr GitOpsMark kGitOpsMarks[] = {
    {"annotations", "argocd.argoproj.io/tracking-id", "Argo CD"},
    {"labels", "argocd.argoproj.io/instance", "Argo CD"},
    {"labels", "kustomize.toolkit.fluxcd.io/name", "Flux"},
    {"labels", "helm.toolkit.fluxcd.io/name", "Flux"},
};
// Field managers of GitOps tools. If Argo CD tracks objects by the label app.kubernetes.io/instance, only its
// field manager identifies Argo CD, because Helm also sets this label.
constexpr GitOpsMark kGitOpsManagers[] = {
    {"", "argocd-controller", "Argo CD"},
    {"", "argocd-application-controller", "Argo CD"},
    {"", "kustomize-controller", "Flux"},
    {"", "helm-controller", "Flux"},
};

std::string GitOpsOf(JsonNode metadata) {
  for (const GitOpsMark& mark : kGitOpsMarks) {
    if (metadata[mark.in][mark.key]) return StrCat(mark.who, " (", mark.key, ")");
  }
  std::string out;
  metadata["managedFields"].ForEachItem([&out](JsonNode entry) {
    for (const GitOpsMark& mark : kGitOpsManagers) {
      if (entry.Text("manager") == mark.key) out = StrCat(mark.who, " (field manager ", mark.key, ")");
    }
  });
  return out;
}

int64_t TimeOf(JsonNode entry) {
  absl::Time time;
  std::string error;
  const bool ok = absl::ParseTime(absl::RFC3339_full, std::string(entry.Text("time")), &time, &error);
  return ok ? absl::ToUnixSeconds(time) : 0;
}

void TakeField(JsonNode entry, bool has, TemplateField& field) {
  if (!has) return;
  const std::string_view manager = entry.Text("manager");
  const bool applies = entry.Text("operation") == "Apply";
  if (manager == kFieldManager && applies) {
    field.ours = true;
    return;
  }
  if (applies) field.applier = manager;
  if (const int64_t at_s = TimeOf(entry); field.other.empty() || at_s > field.other_s) {
    field.other = manager;
    field.other_s = at_s;
  }
}

void TakeManager(JsonNode entry, WorkloadTemplate& out) {
  if (!entry.Text("subresource").empty()) return;
  if (entry.Text("manager") == kFieldManager && entry.Text("operation") == "Apply") out.set_s = TimeOf(entry);
  const JsonNode pod_spec = entry["fieldsV1"]["f:spec"]["f:template"]["f:spec"];
  if (!pod_spec) return;
  for (size_t i = 0; i < out.containers.size(); ++i) {
    const ContainerState& container = out.containers[i];
    const JsonNode list = pod_spec[container.is_sidecar ? "f:initContainers" : "f:containers"];
    const JsonNode resources = list[StrCat(R"(k:{"name":")", container.name, R"("})")]["f:resources"];
    for (const Resource r : kPodResources) {
      const std::string key = StrCat("f:", Name(r));
      WorkloadTemplate::Fields& fields = out.fields[i][static_cast<size_t>(r)];
      TakeField(entry, static_cast<bool>(resources["f:requests"][key]), fields.request);
      TakeField(entry, static_cast<bool>(resources["f:limits"][key]), fields.limit);
    }
  }
}

void TakeDeployment(JsonNode spec, JsonNode status, WorkloadTemplate& out) {
  if (spec.Flag("paused")) out.blocked = "it is paused";
  std::string_view progress;
  status["conditions"].ForEachItem([&progress](JsonNode condition) {
    if (condition.Text("type") == "Progressing") progress = condition.Text("reason");
  });
  out.stuck = progress == "ProgressDeadlineExceeded";
  const int64_t wanted = spec["replicas"].whole().value_or(1), updated = status.Whole("updatedReplicas");
  const int64_t old = status.Whole("replicas") - updated;
  // Pods that fail after a completed rollout are not a rollout: Kubernetes still reports NewReplicaSetAvailable.
  const bool waits = progress != "NewReplicaSetAvailable" && status.Whole("availableReplicas") < updated;
  if (updated < wanted || old > 0 || waits) out.rolling = StrCat(updated, " of ", wanted, " pods are new");
}

void TakeStatefulSet(JsonNode spec, JsonNode status, WorkloadTemplate& out) {
  const JsonNode strategy = spec["updateStrategy"];
  if (strategy.Text("type") == "OnDelete") out.blocked = "its updateStrategy is OnDelete";
  if (strategy["rollingUpdate"].Whole("partition") > 0)
    out.blocked = "its updateStrategy has a partition, which keeps some pods as they are";
  if (status.Text("currentRevision") != status.Text("updateRevision"))
    out.rolling = StrCat(status.Whole("updatedReplicas"), " of ", spec["replicas"].whole().value_or(1),
                         " pods are new");
}

void TakeDaemonSet(JsonNode spec, JsonNode status, WorkloadTemplate& out) {
  if (spec["updateStrategy"].Text("type") == "OnDelete") out.blocked = "its updateStrategy is OnDelete";
  const int64_t wanted = status.Whole("desiredNumberScheduled"),
                updated = status.Whole("updatedNumberScheduled");
  if (updated < wanted) out.rolling = StrCat(updated, " of ", wanted, " pods are new");
}

void TakeRollout(std::string_view kind, JsonNode root, WorkloadTemplate& out) {
  const JsonNode spec = root["spec"], status = root["status"];
  if (kind == "deployment") TakeDeployment(spec, status, out);
  if (kind == "statefulset") TakeStatefulSet(spec, status, out);
  if (kind == "daemonset") TakeDaemonSet(spec, status, out);
  if (status.Whole("observedGeneration") < root["metadata"].Whole("generation")) {
    out.rolling = "its controller has not seen the last change yet";
    out.stuck = false;
  }
  if (out.stuck) out.rolling.clear();
}

void WriteAmounts(JsonWriter& json, const char* key, const Amounts& amounts) {
  if (amounts == Amounts()) return;
  json.Key(key);
  json.BeginObject();
  for (const Resource r : kPodResources) {
    if (amounts.of(r).has_value()) json.Field(Name(r), Quantity(r, *amounts.of(r)));
  }
  json.EndObject();
}

void WriteContainers(JsonWriter& json, const WorkloadTemplate& of,
                     const std::vector<TemplateAmounts>& amounts, bool sidecars) {
  json.BeginArray();
  for (size_t i = 0; i < of.containers.size(); ++i) {
    const TemplateAmounts& a = amounts[i];
    if (of.containers[i].is_sidecar != sidecars || (a.requests == Amounts() && a.limits == Amounts()))
      continue;
    json.BeginObject();
    json.Field("name", of.containers[i].name);
    json.Key("resources");
    json.BeginObject();
    WriteAmounts(json, "requests", a.requests);
    WriteAmounts(json, "limits", a.limits);
    json.EndObject();
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace

absl::StatusOr<WorkloadTemplate> ParseWorkloadTemplate(const WorkloadName& workload, std::string_view body) {
  if (FindKind(workload.kind) == nullptr) {
    return absl::InvalidArgumentError(
        StrCat("the owner is a ", workload.kind,
               ", whose template is not set: expected a deployment, statefulset or daemonset"));
  }
  absl::StatusOr<std::vector<ContainerState>> containers = ParsePodTemplate(body);
  if (!containers.ok()) return containers.status();
  JsonTree tree;
  if (!tree.Parse(body).ok()) return absl::DataLossError("the API server's answer is not JSON");
  const JsonNode metadata = tree.root()["metadata"];
  WorkloadTemplate out;
  out.resource_version = metadata.Text("resourceVersion");
  out.containers = *std::move(containers);
  out.fields.resize(out.containers.size());
  out.gitops = GitOpsOf(metadata);
  out.noted =
      static_cast<bool>(tree.root()["spec"]["template"]["metadata"]["annotations"][kOwnersAnnotation]);
  metadata["managedFields"].ForEachItem([&out](JsonNode entry) { TakeManager(entry, out); });
  // A field that Tautline does not own has the owner's amount, even if Tautline owned the field before. The
  // annotation contains the owner's amounts only of fields that Tautline owns.
  for (size_t i = 0; i < out.containers.size(); ++i) {
    ContainerState& c = out.containers[i];
    for (const Resource r : kPodResources) {
      const WorkloadTemplate::Fields& fields = out.fields[i][static_cast<size_t>(r)];
      if (!out.noted || !fields.request.ours) c.owner_requests.of(r) = c.requests.of(r);
      if (!out.noted || !fields.limit.ours) c.owner_limits.of(r) = c.limits.of(r);
    }
  }
  TakeRollout(workload.kind, tree.root(), out);
  if (std::ranges::any_of(out.containers, [](const auto& c) { return c.cpu_of_pod || c.memory_of_pod; }))
    out.blocked = "its template has resources of the whole pod (spec.resources)";
  return out;
}

std::string TemplateApply(const WorkloadName& workload, const WorkloadTemplate& of,
                          const std::vector<TemplateAmounts>& amounts, bool note) {
  JsonWriter json;
  json.BeginObject();
  json.Field("apiVersion", "apps/v1");
  json.Field("kind", FindKind(workload.kind)->kind);
  json.Key("metadata");
  json.BeginObject();
  json.Field("name", workload.name);
  json.Field("namespace", workload.namespace_name);
  // If another program changed the object meanwhile, the server responds with 409.
  json.Field("resourceVersion", of.resource_version);
  json.EndObject();
  json.Key("spec");
  json.BeginObject();
  json.Key("template");
  json.BeginObject();
  if (note) {
    json.Key("metadata");
    json.BeginObject();
    json.Key("annotations");
    json.BeginObject();
    json.Field(kOwnersAnnotation, OwnersText(of.containers, true));
    json.EndObject();
    json.EndObject();
  }
  json.Key("spec");
  json.BeginObject();
  json.Key("containers");
  WriteContainers(json, of, amounts, false);
  if (std::ranges::any_of(of.containers, &ContainerState::is_sidecar)) {
    json.Key("initContainers");
    WriteContainers(json, of, amounts, true);
  }
  for (int i = 0; i < 4; ++i) json.EndObject();
  return json.Take();
}

}  // namespace taut::server
