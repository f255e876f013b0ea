// The input of a recommender for one job, resource and window: the signal s[t] and some exact figures.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "common/base/time.h"
#include "common/model/resource.h"
#include "common/model/usage.h"

namespace taut {

// One task's exact figures in the window, in the resource's unit (cores or bytes).
struct TaskUsage {
  uint32_t task = 0;
  float mean = 0;
  float peak = 0;  // figure that is compared with a limit: the window's peak of memory, or mean of CPU
};

// A view: the spans are valid during the call that passes it.
struct Signal {
  WindowId window;
  // Ascending buckets with weights > 0. CPU: seconds at each bucket; memory: tasks, each at its window peak.
  // Empty if the job was not measured in this window.
  std::span<const BucketWeight> buckets;
  std::span<const TaskUsage> tasks;
  double weight = 0;                  // sum of bucket weights
  double mean = 0;                    // sum(bound * weight) / weight (Autopilot §3.2.2: a window's mean)
  double peak = 0;                    // largest TaskUsage::peak
  std::optional<double> owner_limit;  // limit per task; the largest if the tasks' limits differ
  // Sum of the tasks' own limits; absent if all tasks have the same limit.
  std::optional<double> owner_limit_sum = std::nullopt;
  // The limit in this window after all floors and bounds; absent: unknown.
  std::optional<double> limit = std::nullopt;
  // The limit that capped the usage: tasks ran under this limit, so that a higher demand was not measured. Absent:
  // no limit affected the usage.
  std::optional<double> cut_at = std::nullopt;
  // The job's load by its load series; absent: the job has no load series.
  std::optional<double> load = std::nullopt;
  // Figures of all resources, indexed by IndexOf. used_together: usage of all tasks together, mean over the
  // window; absent: not measured. owner_limits: the owner's limit per task; absent: none.
  PerResource<std::optional<double>> used_together = {};
  PerResource<std::optional<double>> owner_limits = {};
  const std::optional<double>& together(Resource r) const { return used_together[IndexOf(r)]; }
  // Values of the job's own series, by name.
  std::span<const NamedSignal> named = {};
  // CPU only: share of the tasks' CFS periods with throttling; absent: unknown.
  std::optional<double> throttled = std::nullopt;
  // Memory only: the highest usage of a task, if the figures above are probed needs instead of usage. Absent:
  // all figures are usage.
  std::optional<double> usage_peak = std::nullopt;
};

// An event in which a task was killed, or would have been killed, because the task needed more than `limit`.
// The true need is unknown.
struct OomEvent {
  WindowId window;
  uint32_t task = 0;
  double limit = 0;
};

// Returns true if usage that a kill cut off at `killed_at` was above `limit`. The true usage was above the limit
// in force, and therefore above every lower limit. Limits within a millionth count as equal.
inline bool WasAbove(double killed_at, double limit) { return limit <= killed_at * (1 + 1e-6); }

}  // namespace taut
