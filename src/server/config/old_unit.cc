#include "server/config/old_unit.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "common/base/strings.h"

namespace taut::server {
namespace {

constexpr std::string_view kKinds[] = {"deployment", "statefulset", "daemonset",
                                       "replicaset", "cronjob",     "job"};

bool IsKind(std::string_view part) { return std::ranges::find(kKinds, part) != std::end(kKinds); }

// Returns true for "[CLUSTER/]NAMESPACE/KIND/OWNER", and false for a container of such an owner.
bool IsOfPods(std::string_view job) {
  const std::vector<std::string_view> parts = Split(job, '/');
  const size_t n = parts.size();
  if (n != 3 && n != 4) return false;
  return IsKind(parts[n - 2]) && (n == 3 || !IsKind(parts[n - 3]));
}

}  // namespace

std::string OldUnitNotice(std::span<const std::string> stored, KubernetesJobs jobs) {
  if (jobs == KubernetesJobs::kPods) return "";
  size_t count = 0;
  const std::string* first = nullptr;
  for (const std::string& job : stored) {
    if (!IsOfPods(job)) continue;
    if (++count == 1) first = &job;
  }
  if (count == 0) return "";
  return StrCat(count, count == 1 ? " stored job is" : " stored jobs are", " of whole pods (", *first,
                "), but ingest.kubernetes_jobs is containers: each container is a new job (", *first,
                "/CONTAINER), the old one gets no samples and is forgotten. Settings made for the old one "
                "have to be made "
                "again; backfill.prometheus gives the new ones their history. ingest.kubernetes_jobs: pods "
                "goes on as before");
}

}  // namespace taut::server
