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
  const brain::JobPolicy* policy = nullptr;  // policy, never null; its mode is ignored
  WindowId from, to;  // the shown windows are in [from, to); earlier windows only train the policy
  int columns = 336;  // maximum number of columns, > 0; a column covers whole windows
  // Use of the task size that is chosen for the job (FleetState::SizeUseOf).
  brain::SizeUse size = brain::SizeUse::kOwners;
};

// One column: means over its measured windows; the load is a maximum. Absent: not measured, or no
// recommendation.
struct ReplicaColumn {
  int64_t start_s = 0;
  std::optional<double> load;
  // mean number of tasks: as it was, and as it would be if every recommendation were applied
  std::optional<double> tasks, would_be;
  // Greatest load at which no task is overloaded, with the owner's task size and with the chosen task size.
  std::optional<double> capacity, would_be_capacity;
  // Forecast of the load in the column's windows. The forecast for a window is made at the time at which a task
  // must start to be ready in this window. Maximum of each end of the forecast's band.
  std::optional<double> forecast_low, forecast_high;
};

// Sums over the windows that have both a load and a recommendation in force.
struct ReplicaTotals {
  uint32_t windows = 0;
  double task_hours = 0, would_be_task_hours = 0;
  uint32_t overloaded = 0, would_be_overloaded = 0;  // windows with a mean load above the capacity
  uint32_t changes = 0, would_be_changes = 0;        // changes of the number of tasks
};

struct ReplicaHistory {
  int64_t step_s = 0;     // length of a column, seconds
  bool is_of_cpu = true;  // true if the load is CPU, as in LiveReplicas
  std::vector<ReplicaColumn> columns;
  ReplicaTotals totals;
};

// Replays the policy over `days`, ascending, and returns the number of tasks over time. The policy receives the
// load of the tasks that ran, because the usage with another number of tasks is unknown. The policy chooses task
// sizes as in the live fleet. Each recommendation is in force from the next window on. Without a policy, no column
// has a would_be. O(windows).
ReplicaHistory ReplicasOverTime(const ReplicaHistoryQuery& query, std::span<const JobDay> days);

}  // namespace taut::server
