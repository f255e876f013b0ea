// KubernetesSource: watches and lists of pods, nodes, owners, and of autoscalers that set the same fields as
// Tautline.
#include <random>
#include <utility>

#include "common/base/pattern.h"
#include "common/base/strings.h"
#include "common/net/clocks.h"
#include "server/kubernetes/run/kubernetes_source.h"

namespace taut::server {
namespace {

constexpr std::chrono::minutes kAbsentRetry{5};  // interval for kinds that may be installed later
constexpr std::chrono::seconds kReadOwners{1}, kReadCustomOwners{2};

}  // namespace

template <typename Object>
absl::Status KubernetesSource::Watch(ReflectorOptions reflector, const std::string& what,
                                     ReflectorSink<Object> sink) {
  absl::StatusOr<std::unique_ptr<ApiClient>> client = Client();
  if (!client.ok()) return client.status();
  const bool may_be_absent = reflector.absent_retry.count() > 0;
  reflector.seed = std::random_device()();
  auto made = std::make_shared<Reflector<Object>>(
      std::move(reflector), *std::move(client), std::move(sink),
      [this](std::chrono::milliseconds pause) { Wait(pause); },
      [this, what, may_be_absent](const absl::Status& status) {
        if (may_be_absent && absl::IsNotFound(status)) return NoteAbsent(what, status);
        Note(what, status);
      });
  runs_.push_back([made] { made->Run(); });
  stops_.push_back([made] { made->Stop(); });
  lists_.push_back([made] { return made->lists(); });
  return absl::OkStatus();
}

absl::Status KubernetesSource::WatchPods() {
  return Watch<Pod>({.path = "/api/v1/pods", .list_accept = {}, .watch_accept = {}}, "pods",
                    {.replace =
                         [this](std::vector<Pod> pods) {
                           std::erase_if(pods, [this](const Pod& pod) { return !IsWanted(pod); });
                           if (quota_gate_ != nullptr) quota_gate_->Replace(pods);
                           cluster_.pods().Replace(std::move(pods));
                         },
                     .put =
                         [this](Pod pod) {
                           if (!IsWanted(pod)) return;
                           if (quota_gate_ != nullptr) quota_gate_->Put(pod);
                           cluster_.pods().Put(std::move(pod));
                         },
                     .remove =
                         [this](const Pod& pod) {
                           if (quota_gate_ != nullptr) quota_gate_->Remove(pod);
                           cluster_.pods().Remove(pod);
                         }});
}

absl::Status KubernetesSource::WatchNodes() {
  NodeTable* const nodes = &cluster_.nodes();
  return Watch<Node>({.path = "/api/v1/nodes", .list_accept = {}, .watch_accept = {}}, "nodes",
                     {.replace = [nodes](std::vector<Node> all) { nodes->Replace(std::move(all)); },
                      .put = [nodes](Node node) { nodes->Put(std::move(node)); },
                      .remove = [nodes](const Node& node) { nodes->Remove(node); }});
}

absl::Status KubernetesSource::WatchMetadata(const std::string& path, ReflectorSink<OwnedObject> sink) {
  return Watch<OwnedObject>({.path = path,
                             .list_accept = std::string(kMetadataOnly),
                             .watch_accept = std::string(kMetadataOnlyWatch)},
                            path, std::move(sink));
}

// Watches workloads, because their annotations are settings or Tautline's own status, and Events need their UIDs.
absl::Status KubernetesSource::WatchWorkloads() {
  Steering* const steering = &steering_;
  WorkloadDirectory* const workloads = &workloads_;
  for (const WatchedKind& kind : WatchedKinds()) {
    const std::string name = kind.kind, version = kind.api_version;
    StatusWriter* const status = name == "Namespace" ? nullptr : status_.get();
    const bool may_split = options_.config.annotations && (name == "DaemonSet" || name == "StatefulSet");
    Cluster* const cluster = may_split ? &cluster_ : nullptr;
    const absl::Status s = WatchMetadata(kind.path, {.replace =
                                                         [=](const std::vector<OwnedObject>& all) {
                                                           steering->Replace(name, all);
                                                           workloads->Replace(name, version, all);
                                                           if (cluster != nullptr)
                                                             cluster->splits().Replace(name, all);
                                                           if (status != nullptr) status->Replace(name, all);
                                                         },
                                                     .put =
                                                         [=](const OwnedObject& object) {
                                                           steering->Put(name, object);
                                                           workloads->Put(name, version, object);
                                                           if (cluster != nullptr)
                                                             cluster->splits().Put(name, object);
                                                           if (status != nullptr) status->Put(name, object);
                                                         },
                                                     .remove =
                                                         [=](const OwnedObject& object) {
                                                           steering->Remove(name, object);
                                                           workloads->Remove(name, object);
                                                           if (cluster != nullptr)
                                                             cluster->splits().Remove(name, object);
                                                           if (status != nullptr)
                                                             status->Remove(name, object);
                                                         }});
    if (!s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status KubernetesSource::WatchOwners(const std::string& kind, const std::string& path) {
  Cluster* const cluster = &cluster_;
  return WatchMetadata(
      path,
      {.replace = [cluster,
                   kind](const std::vector<OwnedObject>& all) { cluster->owners().Replace(kind, all); },
       .put = [cluster, kind](const OwnedObject& object) { cluster->owners().Put(kind, object); },
       .remove = [cluster, kind](const OwnedObject& object) { cluster->owners().Remove(kind, object); }});
}

// Watches ResourceQuotas, whose remaining amounts bound new pods in the webhook and in templates that the actuator
// changes.
absl::Status KubernetesSource::WatchQuotas() {
  return WatchNamespaceRules("ResourceQuota", "/api/v1/resourcequotas");
}

// Watches the objects that bound the amounts of pods.
absl::Status KubernetesSource::WatchNamespaceRules(const std::string& kind, const std::string& path) {
  NamespaceRules* const rules = &namespace_rules_;
  return Watch<NamespaceRule>(
      {.path = path, .list_accept = {}, .watch_accept = {}}, StrCat(kind, "s"),
      {.replace = [rules, kind](std::vector<NamespaceRule> all) { rules->Replace(kind, std::move(all)); },
       .put = [rules, kind](NamespaceRule rule) { rules->Put(kind, std::move(rule)); },
       .remove = [rules, kind](const NamespaceRule& rule) { rules->Remove(kind, rule); }});
}

// Watches VPAs, because Tautline writes the status of some VPAs, and other recommenders may set amounts through
// other VPAs.
absl::Status KubernetesSource::WatchVpas() {
  FieldOwners* const owners = &field_owners_;
  VpaWriter* const vpas = vpas_.get();
  return Watch<Vpa>({.path = "/apis/autoscaling.k8s.io/v1/verticalpodautoscalers",
                     .list_accept = {},
                     .watch_accept = {},
                     .absent_retry = kAbsentRetry},
                    "VerticalPodAutoscalers",
                    {.replace =
                         [owners, vpas](std::vector<Vpa> all) {
                           owners->ReplaceVpas(all);
                           if (vpas != nullptr) vpas->Replace(std::move(all));
                         },
                     .put =
                         [owners, vpas](Vpa vpa) {
                           owners->PutVpa(vpa);
                           if (vpas != nullptr) vpas->Put(std::move(vpa));
                         },
                     .remove =
                         [owners, vpas](const Vpa& vpa) {
                           owners->RemoveVpa(vpa);
                           if (vpas != nullptr) vpas->Remove(vpa);
                         }});
}

absl::Status KubernetesSource::WatchHpas() {
  FieldOwners* const owners = &field_owners_;
  return Watch<Hpa>(
      {.path = "/apis/autoscaling/v2/horizontalpodautoscalers", .list_accept = {}, .watch_accept = {}},
      "HorizontalPodAutoscalers",
      {.replace = [owners](std::vector<Hpa> all) { owners->ReplaceHpas(std::move(all)); },
       .put = [owners](Hpa hpa) { owners->PutHpa(std::move(hpa)); },
       .remove = [owners](const Hpa& hpa) { owners->RemoveHpa(hpa); }});
}

absl::Status KubernetesSource::WatchScaledObjects() {
  FieldOwners* const owners = &field_owners_;
  return Watch<KedaScaledObject>(
      {.path = "/apis/keda.sh/v1alpha1/scaledobjects",
       .list_accept = {},
       .watch_accept = {},
       .absent_retry = kAbsentRetry},
      "ScaledObjects",
      {.replace =
           [owners](std::vector<KedaScaledObject> all) { owners->ReplaceScaledObjects(std::move(all)); },
       .put = [owners](KedaScaledObject object) { owners->PutScaledObject(std::move(object)); },
       .remove = [owners](const KedaScaledObject& object) { owners->RemoveScaledObject(object); }});
}

bool KubernetesSource::IsWanted(const Pod& pod) const {
  const std::string& namespaces = options_.config.namespaces;
  return namespaces.empty() || FitsPattern(pod.namespace_name, namespaces);
}

void KubernetesSource::Note(const std::string& what, const absl::Status& status) {
  if (!status.ok()) ++watch_failures_;
  const WatchLog::Line line = watch_log_.Note(what, status);
  if (line.text.empty()) return;
  options_.log->Say(line.is_warning ? LogLevel::kWarning : LogLevel::kInfo,
                    StrCat("kubernetes: ", line.text));
}

void KubernetesSource::NoteAbsent(const std::string& what, const absl::Status& status) const {
  options_.log->Warn(StrCat("kubernetes: this cluster has no ", what, " (", Message(status),
                            "); looked for again every ", kAbsentRetry.count(), " minutes"));
}

absl::Status KubernetesSource::OpenOwners() {
  absl::StatusOr<std::unique_ptr<ApiClient>> client = Client();
  if (!client.ok()) return client.status();
  owners_client_ = *std::move(client);
  OwnersReader::Options options;
  options.get = [this](const std::string& path) { return owners_client_->Get(path); };
  options.steady_s = SteadySeconds;
  owners_ = std::make_unique<OwnersReader>(std::move(options), &cluster_);
  return absl::OkStatus();
}

// Sets up the lists of custom resources, which replace WatchWorkloads() for unknown kinds.
absl::Status KubernetesSource::OpenCustomOwners() {
  absl::StatusOr<std::unique_ptr<ApiClient>> client = Client();
  if (!client.ok()) return client.status();
  custom_client_ = *std::move(client);
  CustomOwnersReader::Options options;
  options.get = [this](const std::string& path) { return custom_client_->Get(path); };
  options.list = [this](const std::string& path) { return custom_client_->Get(path, kMetadataOnly); };
  options.kinds = [this] { return cluster_.pods().OwnerKinds(); };
  options.take = [this](const FoundKind& kind, const std::vector<OwnedObject>& all) {
    steering_.Replace(kind.kind, all);
    workloads_.Replace(kind.kind, kind.api_version, all);
    if (status_ != nullptr && kind.can_patch) status_->ReplaceCustom(kind, all);
  };
  // `steering_` keeps the last annotations of the kind, because the refusal may be temporary. If a mode off were
  // deleted meanwhile, limits would be set.
  options.forget = [this](const FoundKind& kind) {
    if (status_ != nullptr) status_->ReplaceCustom(kind, {});
  };
  options.steady_s = SteadySeconds;
  custom_owners_ = std::make_unique<CustomOwnersReader>(std::move(options));
  return absl::OkStatus();
}

void KubernetesSource::ReadCustomOwners() {
  KeepDoing(
      kReadCustomOwners,
      "custom resources that own pods cannot be listed (packaging/kubernetes/observe/custom_owners.yaml "
      "has the right; Helm: annotatedKinds):",
      [this](const std::function<bool()>& stopping) {
        if (cluster_.synced()) custom_owners_->Step(stopping);
        return custom_owners_->last_error();
      });
}

void KubernetesSource::ReadOwners() {
  KeepDoing(kReadOwners, "reading", [this](const std::function<bool()>& stopping) {
    if (cluster_.synced()) owners_->Step(stopping);
    return owners_->last_error();
  });
}

}  // namespace taut::server
