// The control plane's recommendations for the workloads of a cluster: for the annotation tautline.dev/status, for
// VPAs, and for the totals of a pod.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/model/pod_totals.h"
#include "server/control/control_plane.h"
#include "server/kubernetes/act/status_text.h"
#include "server/kubernetes/watch/cluster.h"
#include "server/kubernetes/watch/field_owners.h"

namespace taut::server {

// Returns the rule by which the job's recommendation becomes request and limit; the default rule if the job is
// unknown.
Allocation AllocationOf(const ControlPlane& control, JobId job, Resource resource);

// Looks up recommendations. All functions are thread-safe.
class WorkloadAdvice {
 public:
  // `namespaces` is the pattern of the watched namespaces; "": all. The other arguments must outlive this object.
  WorkloadAdvice(const Cluster& cluster, const FieldOwners& owners, const ControlPlane& control,
                 std::string namespaces)
      : cluster_(cluster), owners_(owners), control_(control), namespaces_(std::move(namespaces)) {}

  // Returns the status of a workload for StatusWriter::Options::of. Omits containers of jobs in mode off.
  std::optional<std::vector<ContainerStatus>> StatusOf(const WorkloadName& workload, bool reasons) const;
  // Returns the totals of a pod with the job's container; nullopt if there is no such pod, or if jobs are whole
  // pods.
  std::optional<PodTotals> PodTotalsOf(const Workload& job) const;
  // Returns the requests of a container for a VPA. An amount is absent if nothing is recommended.
  Amounts RequestsOf(const WorkloadName& container, bool requests_only) const;

 private:
  // Returns one name per container and group of the workload.
  std::vector<WorkloadName> JobsOf(const WorkloadName& workload) const;
  ContainerStatus StatusOfJob(const JobView& job, const WorkloadName& workload, bool reasons) const;
  ContainerResources RecommendedAmounts(const std::vector<PodPtr>& pods, const WorkloadName& workload,
                                        Resource r, double amount, const Allocation& allocation) const;

  const Cluster& cluster_;
  const FieldOwners& owners_;
  const ControlPlane& control_;
  const std::string namespaces_;
};

}  // namespace taut::server
