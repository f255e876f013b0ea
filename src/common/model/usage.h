// Measured usage before (UsageRow) and after (JobDay) it is folded into 5-minute windows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/histogram/grid.h"
#include "common/model/resource.h"

namespace taut {

// The number of a job within one run. Numbers have no gaps and are in order of first appearance in the input.
struct JobId {
  uint32_t value = 0;
  auto operator<=>(const JobId&) const = default;
};

enum class Sensitivity : uint8_t { kUnknown, kBestEffort, kBatch, kSensitive, kMostSensitive };

// Properties of a job besides its usage. An empty string or kUnknown means that the source does not provide
// it.
struct JobInfo {
  std::string name;          // name, unique in the run
  std::string logical_name;  // name that re-runs of one program share
  Sensitivity sensitivity = Sensitivity::kUnknown;
  std::optional<int> priority;
};

// One measurement of one task over [start, end). A value that the source does not provide is absent, never 0.
struct UsageRow {
  JobId job;
  uint32_t task = 0;  // index within the job
  Timestamp start;
  Timestamp end;  // end of the measurement, > start
  std::optional<float> cpu_mean_cores;
  std::optional<float> cpu_max_cores;  // largest raw sample
  // Percentiles of the raw CPU samples in [start, end), cores, ascending, at the fractions cpu_fractions. May
  // be empty.
  std::span<const float> cpu_percentiles_cores;
  std::span<const float> cpu_fractions;
  std::optional<float> memory_mean_bytes;
  std::optional<float> memory_peak_bytes;  // absent: only the mean is known
  // The owner's limit for the task, if this row contains it.
  std::optional<float> cpu_limit_cores;
  std::optional<float> memory_limit_bytes;
  std::optional<uint32_t> oom_kills;  // kills of the task in [start, end); absent: unknown
};

// Value of a figure that was not measured. Measured figures are never negative.
inline constexpr float kAbsent = -1.0F;
inline constexpr PerResource<float> kAllAbsent = AllOf(kAbsent);
// One task in one window. A resource without a measurement has kAbsent in both its fields.
struct TaskWindow {
  uint32_t task = 0;
  float cpu_mean_cores = kAbsent;
  float cpu_peak_cores = kAbsent;  // largest known raw sample; the mean if no raw sample is known
  float memory_mean_bytes = kAbsent;
  float memory_peak_bytes = kAbsent;
  // Highest memory need of the task in the window, as its agent probed it (node/agent/memory_probe.h); absent: not
  // probed, or unknown for a part of the window.
  float memory_needed_bytes = kAbsent;
#ifdef TAUT_THIRD_RESOURCE
  float disk_mean_bytes = kAbsent;
  float disk_peak_bytes = kAbsent;
#endif

  float mean(Resource r) const { return this->*kMeans[IndexOf(r)]; }
  float peak(Resource r) const { return this->*kPeaks[IndexOf(r)]; }
  // Returns the figure that is compared with a limit: the mean if the resource throttles at its limit, else
  // the peak.
  float judged(Resource r) const { return ThrottlesAtLimit(r) ? mean(r) : peak(r); }

  static const PerResource<float TaskWindow::*> kMeans, kPeaks;
};
inline constexpr PerResource<float TaskWindow::*> TaskWindow::kMeans = {
    &TaskWindow::cpu_mean_cores, &TaskWindow::memory_mean_bytes, TAUT_THIRD(&TaskWindow::disk_mean_bytes)};
inline constexpr PerResource<float TaskWindow::*> TaskWindow::kPeaks = {
    &TaskWindow::cpu_peak_cores, &TaskWindow::memory_peak_bytes, TAUT_THIRD(&TaskWindow::disk_peak_bytes)};

// One job in one window: offsets into the JobDay that contains it.
struct JobWindow {
  WindowId window;
  uint32_t first_task = 0, num_tasks = 0;      // range of JobDay::tasks, ordered by task
  uint32_t first_bucket = 0, num_buckets = 0;  // range of JobDay::cpu_buckets, ordered by bucket
  float cpu_limit_cores = kAbsent;  // the owner's limit per task; the largest if the tasks' limits differ
  float memory_limit_bytes = kAbsent;
  float cpu_throttled = kAbsent;  // share of the tasks' CFS periods with throttling; absent: unknown
  // The job's load, mean over the window, in the unit of its load series; absent: the job has no load series.
  float load = kAbsent;
  // Sum of the limits of the measured tasks, if their limits differ; absent: each task has the limit
  // cpu_limit_cores or memory_limit_bytes.
  float cpu_limit_sum_cores = kAbsent;
  float memory_limit_sum_bytes = kAbsent;
  uint32_t first_signal = 0, num_signals = 0;  // range of JobDay::signals, ordered by name
#ifdef TAUT_THIRD_RESOURCE
  float disk_limit_bytes = kAbsent, disk_limit_sum_bytes = kAbsent;
#endif

  float& limit(Resource r) { return this->*kLimits[IndexOf(r)]; }
  float limit(Resource r) const { return this->*kLimits[IndexOf(r)]; }
  float limit_sum(Resource r) const { return this->*kLimitSums[IndexOf(r)]; }

  static const PerResource<float JobWindow::*> kLimits, kLimitSums;
};
inline constexpr PerResource<float JobWindow::*> JobWindow::kLimits = {
    &JobWindow::cpu_limit_cores, &JobWindow::memory_limit_bytes, TAUT_THIRD(&JobWindow::disk_limit_bytes)};
inline constexpr PerResource<float JobWindow::*> JobWindow::kLimitSums = {
    &JobWindow::cpu_limit_sum_cores, &JobWindow::memory_limit_sum_bytes,
    TAUT_THIRD(&JobWindow::disk_limit_sum_bytes)};

// A series that a mapping rule made a signal of the job: mean over the window, in the series' unit; >= 0.
struct NamedSignal {
  std::string name;  // valid by CheckSignalName, or reserved ("_...")
  float value = 0;
};

// OOM kills of one task in one window, as the source recorded them.
struct TaskKills {
  WindowId window;
  uint32_t task = 0;
  uint32_t kills = 0;               // number of kills, at least 1
  float killed_at_bytes = kAbsent;  // the task's limit; its peak usage if the limit is unknown
};

// All windows of one job in one day, ordered by time.
struct JobDay {
  JobId job;
  int32_t day = 0;
  std::vector<JobWindow> windows;
  std::vector<TaskWindow> tasks;
  // CPU signal: seconds at each bucket, summed over tasks. Computed from samples of 1 s, or from coarser samples
  // weighted by their seconds.
  std::vector<BucketWeight> cpu_buckets;
  std::vector<NamedSignal> signals;
  std::vector<TaskKills> kills;  // ordered by window, then task
  uint32_t kills_told = 0;       // number of task-windows for which the source reports a number of kills
};

}  // namespace taut
