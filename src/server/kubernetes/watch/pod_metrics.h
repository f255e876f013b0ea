// The metrics API (metrics.k8s.io/v1beta1, served by metrics-server and others), for clusters in which tautd
// may not read the kubelets through the API server's proxy.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "common/base/time.h"
#include "server/ingest/workload_sample.h"
#include "server/kubernetes/watch/cluster.h"

namespace taut::server {

inline constexpr std::string_view kPodMetricsPath = "/apis/metrics.k8s.io/v1beta1/pods";

// Reports the CPU and memory in use of each container in a PodMetricsList. CPU is a mean over the item's
// `window` and has the time at which the window begins. Memory has the item's time, which is the window's
// end. `namespaces` and the omitted pods are as in ReportUsage. An item without a time gets the time `now`.
// Returns the number of containers and items that are omitted because their amounts, name, time or window
// cannot be read. DataLoss if the body is not such a list.
absl::StatusOr<size_t> ReportPodMetrics(std::string_view body, const Cluster& cluster,
                                        std::string_view namespaces, Timestamp now, WorkloadIntake& to);

}  // namespace taut::server
