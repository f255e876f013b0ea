#include "server/kubernetes/act/cluster_writer.h"

#include "common/base/json_writer.h"
#include "common/base/row_named.h"
#include "common/base/strings.h"
#include "common/net/clocks.h"
#include "common/net/http.h"
#include "fmt/format.h"
#include "server/kubernetes/admission/webhook_scope.h"

namespace taut::server {
namespace {

struct Kind {
  std::string_view name, path;
};
constexpr Kind kKinds[] = {
    {"deployment", "/apis/apps/v1/namespaces/{}/deployments/{}"},
    {"statefulset", "/apis/apps/v1/namespaces/{}/statefulsets/{}"},
    {"daemonset", "/apis/apps/v1/namespaces/{}/daemonsets/{}"},
    {"replicaset", "/apis/apps/v1/namespaces/{}/replicasets/{}"},
    {"job", "/apis/batch/v1/namespaces/{}/jobs/{}"},
    {"cronjob", "/apis/batch/v1/namespaces/{}/cronjobs/{}"},
};

}  // namespace

bool MayPass(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kUnauthenticated:  // an expired token, or a failure of the credential plugin
      return true;
    default:
      return false;
  }
}

absl::StatusOr<std::string> WorkloadPath(const WorkloadName& workload) {
  for (const Kind& kind : kKinds) {
    if (kind.name != workload.kind) continue;
    return fmt::format(fmt::runtime(kind.path), PercentEncode(workload.namespace_name),
                       PercentEncode(workload.name));
  }
  return absl::InvalidArgumentError(StrCat("the owner is a ", workload.kind.empty() ? "?" : workload.kind,
                                           ", whose template is not known: expected ", RowNames(kKinds)));
}

absl::StatusOr<std::string> WorkloadListPath(const WorkloadName& workload) {
  const absl::StatusOr<std::string> path = WorkloadPath(workload);
  if (!path.ok()) return path.status();
  const size_t name = path->rfind('/');
  return StrCat(path->substr(0, name), "?fieldSelector=metadata.name%3D", path->substr(name + 1));
}

absl::Status ApiWriter::ResizePod(const Pod& pod, std::string_view patch) {
  return client_
      ->Patch(StrCat("/api/v1/namespaces/", PercentEncode(pod.namespace_name), "/pods/",
                     PercentEncode(pod.name), "/resize?fieldManager=", kFieldManager),
              patch, kStrategicMergePatch)
      .status();
}

ApiWriter::ApiWriter(std::unique_ptr<ApiClient> client, std::string webhook)
    : client_(std::move(client)),
      webhook_(std::move(webhook)),
      scales_({.get = [this](const std::string& path) { return client_->Get(path); },
               .steady_s = SteadySeconds}) {}

absl::StatusOr<std::string> ApiWriter::ScaledPath(const WorkloadName& workload) {
  absl::StatusOr<std::string> path = WorkloadPath(workload);
  return path.ok() ? path : scales_.PathOf(workload);
}

absl::Status ApiWriter::Scale(const WorkloadName& workload, int64_t replicas) {
  const absl::StatusOr<std::string> path = ScaledPath(workload);
  if (!path.ok()) return path.status();
  return client_
      ->Patch(StrCat(*path, "/scale?fieldManager=", kFieldManager),
              StrCat(R"({"spec":{"replicas":)", replicas, "}}"), kMergePatch)
      .status();
}

absl::StatusOr<std::vector<ContainerState>> ApiWriter::Template(const WorkloadName& workload) {
  const absl::StatusOr<std::string> path = WorkloadPath(workload);
  if (!path.ok()) return path.status();
  const absl::StatusOr<std::string> body = client_->Get(*path);
  if (!body.ok()) return body.status();
  return ParseOwnersTemplate(*body);
}

absl::StatusOr<std::string> ApiWriter::Workload(const WorkloadName& workload) {
  const absl::StatusOr<std::string> path = WorkloadPath(workload);
  if (!path.ok()) return path.status();
  return client_->Get(*path);
}

absl::Status ApiWriter::ApplyTemplate(const WorkloadName& workload, std::string_view body) {
  const absl::StatusOr<std::string> path = WorkloadPath(workload);
  if (!path.ok()) return path.status();
  return client_->Patch(StrCat(*path, "?force=true&fieldManager=", kFieldManager), body, kApplyPatch)
      .status();
}

// Lists namespaces with a selector, because roles that permit watching namespaces usually permit listing, but not
// getting a single one.
absl::Status ApiWriter::CheckReviewed(const Pod& pod) {
  const absl::StatusOr<std::string> configuration = client_->Get(StrCat(
      "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/", PercentEncode(webhook_)));
  if (!configuration.ok()) return configuration.status();
  const absl::StatusOr<std::string> namespaces = client_->Get(
      StrCat("/api/v1/namespaces?fieldSelector=metadata.name%3D", PercentEncode(pod.namespace_name)));
  if (!namespaces.ok()) return namespaces.status();
  return CheckWebhookScope(*configuration, *namespaces, pod.labels);
}

absl::Status ApiWriter::Evict(const Pod& pod) {
  JsonWriter body;
  body.BeginObject();
  body.Field("apiVersion", "policy/v1");
  body.Field("kind", "Eviction");
  body.Key("metadata");
  body.BeginObject();
  body.Field("name", pod.name);
  body.Field("namespace", pod.namespace_name);
  body.EndObject();
  body.Key("deleteOptions");
  body.BeginObject();
  // With the UID in the preconditions, the eviction fails if a new pod has the same name.
  body.Key("preconditions");
  body.BeginObject();
  body.Field("uid", pod.uid);
  body.EndObject();
  body.EndObject();
  body.EndObject();
  return client_
      ->Create(StrCat("/api/v1/namespaces/", PercentEncode(pod.namespace_name), "/pods/",
                      PercentEncode(pod.name), "/eviction"),
               body.Take())
      .status();
}

}  // namespace taut::server
