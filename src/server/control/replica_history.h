// Replays a job's replica policy over its stored load.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "brain/fleet/live_replicas.h"
#include "brain/rollout/job_policy.h"
#include "common/model/usage.h"

namespace taut::server {

struct ReplicaHistoryQuery {
  const brain::JobPolicy* policy = nullptr;  // never null; its mode is ignored
  WindowId from, to;                         // [from, to); the policy only learns from windows before it
  int columns = 336;                         // maximum number, > 0; a column has whole windows
  // How the job uses a task size that is chosen for it (FleetState::SizeUseOf).
  brain::SizeUse size = brain::SizeUse::kOwners;
};

// Means over the measured windows of a column; load is a maximum. Absent: not measured, or no recommendation.
struct ReplicaColumn {
  int64_t start_s = 0;
  std::optional<double> load;
  std::optional<double> tasks, would_be;  // running, and in force if every recommendation were
  // Load up to the utilisation at which a task counts as overloaded, at the owner's size and at the chosen
  // one.
  std::optional<double> capacity, would_be_capacity;
  // Forecast of the load of these windows, made when a task started then would become ready in them. Maximum
  // of each end of the band.
  std::optional<double> forecast_low, forecast_high;
};

// Sums over the windows with both a load and a recommendation in force.
struct ReplicaTotals {
  uint32_t windows = 0;
  double task_hours = 0, would_be_task_hours = 0;
  uint32_t overloaded = 0, would_be_overloaded = 0;  // windows with a mean load above the capacity
  uint32_t changes = 0, would_be_changes = 0;        // changes of the number of tasks
};

struct ReplicaHistory {
  int64_t step_s = 0;     // length of a column, seconds
  bool is_of_cpu = true;  // LiveReplicas::is_of_cpu
  std::vector<ReplicaColumn> columns;
  ReplicaTotals totals;
};

// Returns the number of tasks over time. `days` are ascending. The policy receives the load of the tasks that
// ran, because usage under another number is unknown. It chooses task sizes as it does live. Each
// recommendation is in force from the next window on. Without a policy, no column has a would_be. O(windows).
ReplicaHistory ReplicasOverTime(const ReplicaHistoryQuery& query, std::span<const JobDay> days);

}  // namespace taut::server
