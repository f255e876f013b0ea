// Reports the workloads of a cluster as typed values: the facts of its API server and the measurements of its
// kubelets. Workloads have the names by which limits are set.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "common/base/time.h"
#include "server/ingest/workload_sample.h"
#include "server/kubernetes/watch/cluster.h"

namespace taut::server {

// Returns the name of a label in the form that Prometheus allows: every other character becomes '_'.
std::string LabelInMetrics(std::string_view key);

// Returns the part of a workload that stands for a container of a pod. `container_id` is "" if it is unknown.
WorkloadPart PartOf(const ClusterNaming& naming, const WorkloadName& workload, std::string_view pod,
                    std::string_view container, std::string_view container_id = "");

// Reports all pods, and the ReplicaSets and Jobs that own the pods. The report has:
// - Facts: owners, programs, labels, and names of init containers and ephemeral containers.
// - The owner's limits and requests (ContainerState::owner_limits), which for a resized pod are not those of
//   its spec.
// - Restarts. For a container that has ended: the time of the end, whether it was killed for memory, and
//   whether it waits for a restart.
// - If `starts`: the time of the last start of each running container.
// For pods that have ended or are gone (PodChanges::TakePods), only the ends of their containers are
// reported, and only while an OOM kill of the pod is recent (OomWatch::kNewsMs).
void ReportPods(const Cluster& cluster, Timestamp now, bool starts, WorkloadIntake& to);
// Reports only these pods, in the same way.
void ReportPods(const Cluster& cluster, std::span<const PodPtr> pods, Timestamp now, bool starts,
                WorkloadIntake& to);

// Reports the CPU, memory and OOM kills of containers in a kubelet's page /metrics/cadvisor or
// /metrics/resource; the latter has no OOM kills. Omits sums of pods, pause containers, containers in
// Pod::left_out, and pods that the cluster does not have. `namespaces` is a pattern; "" stands for every
// namespace. Samples without a time get the time `now`. Returns the number of damaged lines.
size_t ReportUsage(std::string_view text, const Cluster& cluster, std::string_view namespaces, Timestamp now,
                   WorkloadIntake& to);

}  // namespace taut::server
