// The control plane's recommendations for a cluster's workloads. They are used for the annotation
// tautline.dev/status, for VPAs, and for the totals of a pod.
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

// Returns the rule by which the job's recommendation becomes request and limit. Returns the default if the
// job is unknown.
Allocation AllocationOf(const ControlPlane& control, JobId job, Resource resource);

// All functions are thread-safe.
class WorkloadAdvice {
 public:
  // `namespaces`: pattern of the watched namespaces; "": all. The other arguments must outlive the object.
  WorkloadAdvice(const Cluster& cluster, const FieldOwners& owners, const ControlPlane& control,
                 std::string namespaces)
      : cluster_(cluster), owners_(owners), control_(control), namespaces_(std::move(namespaces)) {}

  // Returns the status of a workload, as StatusWriter::Options::of requires. Containers whose job is in mode
  // off are left out.
  std::optional<std::vector<ContainerStatus>> StatusOf(const WorkloadName& workload, bool reasons) const;
  // Returns the totals of a pod that has the job's container. nullopt if no pod has it now, or if jobs are
  // whole pods.
  std::optional<PodTotals> PodTotalsOf(const Workload& job) const;
  // Returns the requests for a container, for a VPA. An amount is absent if nothing is recommended.
  Amounts RequestsOf(const WorkloadName& container, bool requests_only) const;

 private:
  // Returns one name for each container and group that the workload has now.
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
