#include "server/kubernetes/watch/workload_name.h"

#include "common/base/strings.h"
#include "server/ingest/owners.h"

namespace taut::server {

std::string WorkloadKey(std::string_view namespace_name, std::string_view kind, std::string_view name) {
  return StrCat(namespace_name, "/", kind, "/", name);
}

std::string WorkloadKey(const WorkloadName& workload) {
  std::string out = WorkloadKey(workload.namespace_name, workload.kind, workload.name);
  if (!workload.group.empty()) StrAppend(&out, kGroupMark, workload.group);
  return out;
}

Workload ClusterNaming::IdentityOf(const WorkloadName& pods, std::string_view container) const {
  Workload out{.source = Source::kKubernetes,
               .cell = cluster,
               .namespace_name = pods.namespace_name,
               .kind = pods.kind,
               .name = pods.name};
  if (!pods.group.empty()) StrAppend(&out.name, kGroupMark, pods.group);
  if (jobs == KubernetesJobs::kContainers) out.container = container;
  return out;
}

std::optional<WorkloadName> ClusterNaming::Of(const Workload& job) const {
  if (job.source != Source::kKubernetes || job.cell != cluster || job.kind.empty()) return std::nullopt;
  if (job.container.empty() != (jobs == KubernetesJobs::kPods)) return std::nullopt;
  WorkloadName out{job.namespace_name, job.kind, job.name, job.container};
  // Only these kinds are split. The names of other programs may contain the mark.
  const size_t mark =
      out.kind == "daemonset" || out.kind == "statefulset" ? out.name.find(kGroupMark) : std::string::npos;
  if (mark == std::string::npos) return out;
  out.group = out.name.substr(mark + 1);
  out.name.resize(mark);
  if (out.name.empty() || out.group.empty()) return std::nullopt;
  return out;
}

std::optional<WorkloadName> ClusterNaming::OfStoredName(std::string_view job) const {
  const std::optional<Workload> workload = WorkloadOfStoredName(job, cluster);
  return workload.has_value() ? Of(*workload) : std::nullopt;
}

}  // namespace taut::server
