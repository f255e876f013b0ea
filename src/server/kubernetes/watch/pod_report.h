// A cluster as typed values of its workloads: what its API server and its kubelets say, under the names by which
// limits are set.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "common/base/time.h"
#include "server/ingest/workload_sample.h"
#include "server/kubernetes/watch/cluster.h"

namespace taut::server {

// The name of a label as metrics may have it: what Prometheus does not allow becomes '_'.
std::string LabelInMetrics(std::string_view key);

// A container of a pod of this workload. `container_id`: "" if it is not known.
WorkloadPart PartOf(const ClusterNaming& naming, const WorkloadName& workload, std::string_view pod,
                    std::string_view container, std::string_view container_id = "");

// Of all pods, and of the ReplicaSets and Jobs that own them: facts (owners, programs, labels, init containers,
// also ephemeral ones), limits and requests, restarts, and of containers that have ended, also for good, whether
// they were killed for memory, when, and whether they wait. Of pods that have ended, or are gone
// (PodChanges::TakePods), only these ends, while an OOM kill of theirs is news.
// Limits and requests are those of the owner (ContainerState::owner_limits): what the spec of a pod says that was
// resized is not. `starts`: also the time of the last start of containers that run.
void ReportPods(const Cluster& cluster, Timestamp now, bool starts, WorkloadIntake& to);
// The same of these pods alone.
void ReportPods(const Cluster& cluster, std::span<const PodPtr> pods, Timestamp now, bool starts,
                WorkloadIntake& to);

// The lines of a kubelet's /metrics/cadvisor or /metrics/resource about CPU, memory, and OOM kills (of the former)
// of containers, without the sums of pods, their pause containers, those that are Pod::left_out, and pods that are
// not there. `namespaces`: a pattern, "" for every one. Samples without a time have `now`. Returns the number of
// damaged lines.
size_t ReportUsage(std::string_view text, const Cluster& cluster, std::string_view namespaces, Timestamp now,
                   WorkloadIntake& to);

}  // namespace taut::server
