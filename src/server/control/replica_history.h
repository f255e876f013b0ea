// What a job's policy of replicas would have done with its stored load.
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
  const brain::JobPolicy* policy = nullptr;  // never null; its mode does not matter
  WindowId from, to;                         // [from, to); what is stored before is only learnt from
  int columns = 336;                         // the maximum number; a column has whole windows; > 0
  // What the live job does with a size that is chosen for its tasks (FleetState::SizeUseOf).
  brain::SizeUse size = brain::SizeUse::kOwners;
};

// Means over the measured windows of a column; load is the highest. Absent: not measured, or no recommendation.
struct ReplicaColumn {
  int64_t start_s = 0;
  std::optional<double> load;
  std::optional<double> tasks, would_be;  // running; in force if every recommendation were
  // Up to the utilisation at which a task is overloaded, at the owner's size and at the chosen one.
  std::optional<double> capacity, would_be_capacity;
  // What the policy expected of the load of these windows when a task that was started then became ready in
  // them: the highest of each end of its band.
  std::optional<double> forecast_low, forecast_high;
};

// Over the windows with both a load and a recommendation in force.
struct ReplicaTotals {
  uint32_t windows = 0;
  double task_hours = 0, would_be_task_hours = 0;
  uint32_t overloaded = 0, would_be_overloaded = 0;  // windows whose mean load was above the capacity
  uint32_t changes = 0, would_be_changes = 0;        // of the number of tasks
};

struct ReplicaHistory {
  int64_t step_s = 0;     // of a column
  bool is_of_cpu = true;  // LiveReplicas::is_of_cpu
  std::vector<ReplicaColumn> columns;
  ReplicaTotals totals;
};

// `days` ascending. The policy sees the load of the tasks that ran, as usage under another number of tasks is
// not known, and chooses the size of a task as it does live; each recommendation is in force from the next window
// on. Without a policy no column has a would_be.
ReplicaHistory ReplicasOverTime(const ReplicaHistoryQuery& query, std::span<const JobDay> days);

}  // namespace taut::server
