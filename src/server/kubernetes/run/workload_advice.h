// The control plane's recommendations for a cluster's workloads: for the annotation tautline.dev/status, for
// VPAs, and as totals of a pod.
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

// Returns how the job's recommendation becomes request and limit; the default if the job is unknown.
Allocation AllocationOf(const ControlPlane& control, JobId job, Resource resource);

// Thread-safe.
class WorkloadAdvice {
 public:
  // `namespaces`: pattern of the watched namespaces; "": all. All arguments must outlive it.
  WorkloadAdvice(const Cluster& cluster, const FieldOwners& owners, const ControlPlane& control,
                 std::string namespaces)
      : cluster_(cluster), owners_(owners), control_(control), namespaces_(std::move(namespaces)) {}

  // As StatusWriter::Options::of. Containers whose job is in mode off are left out.
  std::optional<std::vector<ContainerStatus>> StatusOf(const WorkloadName& workload, bool reasons) const;
  // Returns the totals of a pod with the job's container; nullopt if there is none now, or jobs are whole
  // pods.
  std::optional<PodTotals> PodTotalsOf(const Workload& job) const;
  // Returns the requests for a container in a VPA. Absent: nothing is recommended.
  Amounts RequestsOf(const WorkloadName& container, bool requests_only) const;

 private:
  // Returns one name for each present container and group of the workload.
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
