// State and counts of the connection to a cluster, for /metrics and tautd's readiness.
#pragma once

#include <cstdint>
#include <optional>

namespace taut::server {

// State of the watches, and counts of changes in the cluster.
struct KubernetesFacts {
  bool synced = false;  // true once the cluster's pods are listed
  uint64_t pods = 0, nodes = 0;
  uint64_t lists = 0;                         // number of complete lists
  uint64_t watch_failures = 0;                // number of failed lists and watches
  uint64_t scrapes = 0, scrape_failures = 0;  // numbers of attempts to read the usage of a node
  double last_scrape_s = 0;                   // duration of the last reading of all nodes
  std::optional<bool> holds_lease;            // true if tautd holds the lease; absent: no lease is configured
  uint64_t vpas = 0, vpa_writes = 0, failed_vpa_writes = 0;
  uint64_t quota_namespaces = 0, quota_writes = 0, failed_quota_writes = 0;
  uint64_t events = 0, failed_events = 0, dropped_events = 0;
  uint64_t status_writes = 0, failed_status_writes = 0;                // writes of workloads' annotations
  uint64_t pods_changed = 0, pods_unchanged = 0, refused_reviews = 0;  // counts of the mutating webhook
  // Reviews of the validating webhook by result.
  uint64_t quota_fitting = 0, quota_warned = 0, quota_refused = 0, quota_not_covered = 0, quota_held = 0;
  uint64_t quota_unknown = 0;
  // Counts of the actuator; 0 if there is none.
  uint64_t resizes = 0, scales = 0, templates = 0, failed_changes = 0, stepped_back = 0, orders = 0;
  uint64_t evictions = 0, refused_evictions = 0;
  uint64_t startups = 0;    // starts of containers with a start-up limit
  uint64_t kernel_low = 0;  // pods whose cgroup had a lower limit than the pod
};

}  // namespace taut::server
