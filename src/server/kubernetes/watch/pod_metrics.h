// The metrics API (metrics.k8s.io/v1beta1, of metrics-server and others), for clusters in which tautd
// may not read the kubelets through the API server's proxy.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "common/base/time.h"
#include "server/ingest/workload_sample.h"
#include "server/kubernetes/watch/cluster.h"

namespace taut::server {

inline constexpr std::string_view kPodMetricsPath = "/apis/metrics.k8s.io/v1beta1/pods";

// A PodMetricsList: of each container the CPU in use, a mean over the item's `window`, with the time at which that
// window begins, and the memory with that of the item, its end. `namespaces` and what is left out as in
// ReportUsage. An item without a time has `now`. Returns the number of containers and items whose amounts, name,
// time or window cannot be read; they are left out. DataLoss: not such a list.
absl::StatusOr<size_t> ReportPodMetrics(std::string_view body, const Cluster& cluster,
                                        std::string_view namespaces, Timestamp now, WorkloadIntake& to);

}  // namespace taut::server
