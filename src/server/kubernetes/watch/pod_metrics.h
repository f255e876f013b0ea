// Reads usage from the metrics API (metrics.k8s.io/v1beta1, served by metrics-server and others), for clusters in
// which tautd may not read the kubelets through the API server's proxy.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "common/base/time.h"
#include "server/ingest/workload_sample.h"
#include "server/kubernetes/watch/cluster.h"

namespace taut::server {

inline constexpr std::string_view kPodMetricsPath = "/apis/metrics.k8s.io/v1beta1/pods";

// Reports the CPU and memory usage of each container in a PodMetricsList. CPU is a mean over the item's `window`,
// with the time of the window's start. Memory has the item's time, the window's end. An item without a time has
// the time `now`. `namespaces` and omitted pods are as in ReportUsage(). Returns the number of containers and
// items that are omitted because an amount, name, time or window is invalid. Returns DataLoss if the body is not
// such a list.
absl::StatusOr<size_t> ReportPodMetrics(std::string_view body, const Cluster& cluster,
                                        std::string_view namespaces, Timestamp now, WorkloadIntake& to);

}  // namespace taut::server
