// A cluster as series: what kube-state-metrics and cAdvisor would send of it, so that mapping rules, names and
// windows are the same with and without a Prometheus.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "common/base/time.h"
#include "server/ingest/remote_write.h"
#include "server/kubernetes/watch/cluster.h"

namespace taut::server {

// One series with its one sample. Views live as long as the call.
// The name of a label as kube-state-metrics writes it: what Prometheus does not allow becomes '_'.
std::string LabelInMetrics(std::string_view key);

using OneSampleFn =
    absl::FunctionRef<void(std::span<const LabelView> labels, double value, int64_t timestamp_ms)>;

// Of all pods and owners: kube_pod_owner, kube_replicaset_owner, kube_job_owner, kube_job_labels, kube_pod_labels,
// kube_pod_container_resource_limits and _requests, kube_pod_init_container_info (also of ephemeral containers),
// kube_pod_container_status_restarts_total, and of containers that have ended, also for good,
// kube_pod_container_status_last_terminated_reason and _last_terminated_timestamp, and _waiting (1: it does not
// run). Of pods that have ended, or are gone (Cluster::TakeChangedPods), only these without _waiting, while an OOM
// kill of theirs is news.
// Limits and requests are those of the owner (ContainerState::owner_limits): what the spec of a pod says that was
// resized is not. `starts`: also kube_pod_container_state_started of containers that run.
void ForEachPodSeries(const Cluster& cluster, Timestamp now, bool starts, OneSampleFn fn);
// The same of these pods alone.
void ForEachPodSeries(const ClusterNaming& naming, std::span<const PodPtr> pods, Timestamp now, bool starts,
                      OneSampleFn fn);

// The lines of a kubelet's /metrics/cadvisor or /metrics/resource that mapping rules can use: CPU, memory and OOM
// kills (of the former) of containers, without the sums of pods, their pause containers and those that are
// Pod::left_out. `namespaces`: a pattern, "" for every one. The name of the cluster is added as the label
// cluster, if
// it has one. Samples without a time have `now`. Returns the number of damaged lines.
size_t ForEachUsageSeries(std::string_view text, const Cluster& cluster, std::string_view namespaces,
                          Timestamp now, OneSampleFn fn);

}  // namespace taut::server
