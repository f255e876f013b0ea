// The recommendations of the control plane for the workloads of a cluster: for all containers of a workload, as
// the annotation tautline.dev/status shows them, for a VPA, and the totals of a pod.
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

// How the job's recommendation becomes a request and a limit; the default if the job is not known.
Allocation AllocationOf(const ControlPlane& control, JobId job, Resource resource);

// Thread-safe.
class WorkloadAdvice {
 public:
  // `namespaces`: the pattern of those that tautd watches; "": every one. All of these outlive it.
  WorkloadAdvice(const Cluster& cluster, const FieldOwners& owners, const ControlPlane& control,
                 std::string namespaces)
      : cluster_(cluster), owners_(owners), control_(control), namespaces_(std::move(namespaces)) {}

  // As StatusWriter::Options::of. Containers whose job is off are left out.
  std::optional<std::vector<ContainerStatus>> StatusOf(const WorkloadName& workload, bool reasons) const;
  // Of a pod with the job's container; nullopt: there is none now, or jobs are whole pods.
  std::optional<PodTotals> PodTotalsOf(const Workload& job) const;
  // The requests for a container as a VPA has them. Absent: nothing is recommended.
  Amounts RequestsOf(const WorkloadName& container, bool requests_only) const;

 private:
  // One for each container and group that the workload has now.
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
