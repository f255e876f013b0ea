// Figures of the connection to a cluster, for /metrics and tautd's readiness.
#pragma once

#include <cstdint>
#include <optional>

namespace taut::server {

// Progress of the watches, and changes made in the cluster.
struct KubernetesFacts {
  bool synced = false;  // the cluster's pods were listed
  uint64_t pods = 0, nodes = 0;
  uint64_t lists = 0;                         // complete lists that were requested
  uint64_t watch_failures = 0;                // failed lists and watches
  uint64_t scrapes = 0, scrape_failures = 0;  // attempts to read a node's usage
  double last_scrape_s = 0;                   // duration of the last reading of all nodes
  std::optional<bool> holds_lease;            // absent: no lease is configured
  uint64_t vpas = 0, vpa_writes = 0, failed_vpa_writes = 0;
  uint64_t quota_namespaces = 0, quota_writes = 0, failed_quota_writes = 0;
  uint64_t events = 0, failed_events = 0, dropped_events = 0;
  uint64_t status_writes = 0, failed_status_writes = 0;                // annotations of workloads
  uint64_t pods_changed = 0, pods_unchanged = 0, refused_reviews = 0;  // by the mutating webhook
  // Reviews of the validating webhook, by result.
  uint64_t quota_fitting = 0, quota_warned = 0, quota_refused = 0, quota_not_covered = 0, quota_held = 0;
  uint64_t quota_unknown = 0;
  // Figures of the actuator; 0 if there is no actuator.
  uint64_t resizes = 0, scales = 0, templates = 0, failed_changes = 0, stepped_back = 0, orders = 0;
  uint64_t evictions = 0, refused_evictions = 0;
  uint64_t startups = 0;    // starts of containers with a start-up limit
  uint64_t kernel_low = 0;  // pods that the kernel limited below their limits
};

}  // namespace taut::server
