#include "server/config/old_unit.h"

#include "common/base/strings.h"

namespace taut::server {

std::string OldUnitNotice(std::span<const Workload> stored, KubernetesJobs jobs) {
  if (jobs == KubernetesJobs::kPods) return "";
  size_t count = 0;
  std::string first;
  for (const Workload& job : stored) {
    if (job.source != Source::kKubernetes || job.kind.empty() || !job.container.empty()) continue;
    if (++count == 1) first = job.JobName();
  }
  if (count == 0) return "";
  return StrCat(count, count == 1 ? " stored job is" : " stored jobs are", " of whole pods (", first,
                "), but ingest.kubernetes_jobs is containers: each container is a new job (", first,
                "/CONTAINER), the old one gets no samples and is forgotten. Settings made for the old one "
                "have to be made "
                "again; backfill.prometheus gives the new ones their history. ingest.kubernetes_jobs: pods "
                "goes on as before");
}

}  // namespace taut::server
