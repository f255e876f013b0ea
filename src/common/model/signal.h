// What a recommender sees of one job, one resource and one window: the signal s[t] and a few exact figures
// beside it.
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
  float peak = 0;  // what is compared with a limit: memory the window's peak, CPU the window's mean
};

// A view: the spans are valid during the call that passes it.
struct Signal {
  WindowId window;
  // Ascending buckets, weights > 0. CPU: seconds at each bucket; memory: tasks, each at its window peak.
  // Empty when the job was not measured in this window.
  std::span<const BucketWeight> buckets;
  std::span<const TaskUsage> tasks;
  double weight = 0;                  // sum of bucket weights
  double mean = 0;                    // sum(bound * weight) / weight (Autopilot §3.2.2: a window's mean)
  double peak = 0;                    // largest TaskUsage::peak
  std::optional<double> owner_limit;  // of each task; where the tasks' own limits differ the largest
  // Sum of the tasks' own limits, where they differ.
  std::optional<double> owner_limit_sum = std::nullopt;
  // In force in this window, after every floor and bound; absent: not known.
  std::optional<double> limit = std::nullopt;
  // Tasks ran under this limit, so that usage above it could not show; absent: usage is what it would be
  // without a limit.
  std::optional<double> cut_at = std::nullopt;
  // What the job had to process, by its load series; absent: it has none.
  std::optional<double> load = std::nullopt;
  // By IndexOf, whatever resource this is of: what the job's tasks used together, mean over the window (absent:
  // not measured), and the owner's limit of each task (absent: none).
  PerResource<std::optional<double>> used_together = {};
  PerResource<std::optional<double>> owner_limits = {};
  const std::optional<double>& together(Resource r) const { return used_together[IndexOf(r)]; }
  // Of the job's own series, by name.
  std::span<const NamedSignal> named = {};
  // CPU: share of the tasks' CFS periods in which they were throttled; absent: not known.
  std::optional<double> throttled = std::nullopt;
  // Memory, where the figures of a task above are what it needs as probed and not what it uses: the highest usage
  // of a task. Absent: all of them are usage.
  std::optional<double> usage_peak = std::nullopt;
};

// A task that was killed (or would have been) for using more than `limit`: its true need is unknown but
// larger.
struct OomEvent {
  WindowId window;
  uint32_t task = 0;
  double limit = 0;
};

// Usage that a kill has cut off at `killed_at` was above it, by an amount that is not known: so it was above every
// limit up to that one. Limits closer than a millionth are the same limit.
inline bool WasAbove(double killed_at, double limit) { return limit <= killed_at * (1 + 1e-6); }

}  // namespace taut
