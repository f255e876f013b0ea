// Reports the workloads of a cluster as typed values: facts from its API server and measurements of its kubelets.
// Workloads have the names of the jobs whose limits are set.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "common/base/time.h"
#include "server/ingest/workload_sample.h"
#include "server/kubernetes/watch/cluster.h"

namespace taut::server {

// Returns the name of a label with each character that Prometheus does not allow replaced by '_'.
std::string LabelInMetrics(std::string_view key);

// Returns the part of a workload for a container of a pod. `container_id` is "" if unknown.
WorkloadPart PartOf(const ClusterNaming& naming, const WorkloadName& workload, std::string_view pod,
                    std::string_view container, std::string_view container_id = "");

// Reports all pods, and the ReplicaSets and Jobs that own pods:
// - Facts: owners, programs, labels, and names of init containers and ephemeral containers.
// - Limits and requests of the owner (ContainerState::owner_limits), which differ from the spec of a resized pod.
// - Restarts. For a terminated container: the time of the termination, whether the OOM killer killed the
//   container, and whether the container waits for a restart.
// - If `starts`: the time of the last start of each running container.
// - For each job whose controller keeps a number of pods (such as a Deployment): the number of its pods, and of
//   its ready pods, without pods that are being deleted.
//
// For pods that have ended or were deleted (PodChanges::TakePods), reports only the terminations of their
// containers, and only while an OOM kill of the pod is recent (OomWatch::kNewsMs).
void ReportPods(const Cluster& cluster, Timestamp now, bool starts, WorkloadIntake& to);
// Reports only `pods`, in the same way but without the numbers of pods.
void ReportPods(const Cluster& cluster, std::span<const PodPtr> pods, Timestamp now, bool starts,
                WorkloadIntake& to);

// Reports the CPU usage, memory usage and OOM kills of containers on a kubelet's page /metrics/cadvisor or
// /metrics/resource, which has no OOM kills. Omits sums of pods, pause containers, containers in Pod::left_out,
// and pods that are not in `cluster`. `namespaces` is a pattern; "": all namespaces. Samples without a time have
// the time `now`. Returns the number of invalid lines.
size_t ReportUsage(std::string_view text, const Cluster& cluster, std::string_view namespaces, Timestamp now,
                   WorkloadIntake& to);

}  // namespace taut::server
