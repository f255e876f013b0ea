#include "server/kubernetes/watch/workload_name.h"

#include "common/base/strings.h"

namespace taut::server {

std::string WorkloadKey(std::string_view namespace_name, std::string_view kind, std::string_view name) {
  return StrCat(namespace_name, "/", kind, "/", name);
}

std::string WorkloadKey(const WorkloadName& workload) {
  return KeyOfGroup(WorkloadKey(workload.namespace_name, workload.kind, workload.name), workload.group);
}

std::string KeyOfGroup(std::string_view whole, std::string_view group) {
  return group.empty() ? std::string(whole) : StrCat(whole, std::string(1, kGroupMark), group);
}

Workload ClusterNaming::IdentityOf(const WorkloadName& pods, std::string_view container) const {
  Workload out{.source = Source::kKubernetes,
               .cell = cluster,
               .namespace_name = pods.namespace_name,
               .kind = pods.kind,
               .name = pods.name,
               .group = pods.group};
  if (jobs == KubernetesJobs::kContainers) out.container = container;
  return out;
}

std::optional<WorkloadName> ClusterNaming::Of(const Workload& job) const {
  if (job.source != Source::kKubernetes || job.cell != cluster || job.kind.empty()) return std::nullopt;
  if (job.container.empty() != (jobs == KubernetesJobs::kPods)) return std::nullopt;
  return WorkloadName{job.namespace_name, job.kind, job.name, job.container, job.group};
}

std::optional<WorkloadName> ClusterNaming::OfStoredName(std::string_view job) const {
  const std::optional<Workload> workload = WorkloadOfStoredName(job, cluster);
  return workload.has_value() ? Of(*workload) : std::nullopt;
}

}  // namespace taut::server
