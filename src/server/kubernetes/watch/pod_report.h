// Reports a cluster as typed values of its workloads: the facts of its API server and the measurements of its
// kubelets, under the names by which limits are set.
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

// Returns the part that is a container of a pod of this workload. `container_id` is "" if it is not known.
WorkloadPart PartOf(const ClusterNaming& naming, const WorkloadName& workload, std::string_view pod,
                    std::string_view container, std::string_view container_id = "");

// Reports all pods, and the ReplicaSets and Jobs that own them.
// - Facts: owners, programs, labels, and names of init containers and ephemeral containers.
// - Limits and requests. They are those of the owner (ContainerState::owner_limits), not the amounts in the
//   spec of a resized pod.
// - Restarts. For containers that have ended, also for good: the time of the end, whether they were killed
//   for memory, and whether they wait.
// - `starts`: also the time of the last start of each running container.
// For pods that have ended or are gone (PodChanges::TakePods), only their ends are reported, and only while
// an OOM kill of theirs is recent (OomWatch::kNewsMs).
void ReportPods(const Cluster& cluster, Timestamp now, bool starts, WorkloadIntake& to);
// Reports these pods alone, in the same way.
void ReportPods(const Cluster& cluster, std::span<const PodPtr> pods, Timestamp now, bool starts,
                WorkloadIntake& to);

// Reports the lines about CPU, memory and OOM kills of containers in a kubelet's /metrics/cadvisor or
// /metrics/resource; the latter has no OOM kills. Sums of pods, pause containers, containers in Pod::left_out
// and pods that the cluster does not have are omitted. `namespaces` is a pattern, "" for every namespace.
// Samples without a time have `now`. Returns the number of damaged lines.
size_t ReportUsage(std::string_view text, const Cluster& cluster, std::string_view namespaces, Timestamp now,
                   WorkloadIntake& to);

}  // namespace taut::server
