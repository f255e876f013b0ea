#include "kubernetes/cluster_writer.h"

#include "base/strings.h"
#include "net/http.h"

namespace taut {
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

absl::StatusOr<std::string> WorkloadPath(const WorkloadName& workload) {
  for (const Kind& kind : kKinds) {
    if (kind.name != workload.kind) continue;
    return fmt::format(fmt::runtime(kind.path), PercentEncode(workload.namespace_name),
                       PercentEncode(workload.name));
  }
  std::string known;
  for (const Kind& kind : kKinds) StrAppend(&known, known.empty() ? "" : ", ", kind.name);
  return absl::InvalidArgumentError(StrCat("the owner is a ", workload.kind.empty() ? "?" : workload.kind,
                                           ", whose template is not known: expected one of ", known));
}

absl::Status ApiWriter::ResizePod(const Pod& pod, std::string_view patch) {
  return client_
      ->Patch(StrCat("/api/v1/namespaces/", PercentEncode(pod.namespace_name), "/pods/",
                     PercentEncode(pod.name), "/resize?fieldManager=", kFieldManager),
              patch, kStrategicMergePatch)
      .status();
}

absl::Status ApiWriter::Scale(const WorkloadName& workload, int64_t replicas) {
  const absl::StatusOr<std::string> path = WorkloadPath(workload);
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
  return ParsePodTemplate(*body);
}

}  // namespace taut
