// One closed window of all jobs of a cell: ingest produces it, the engine processes it and a store keeps it.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "common/model/allocation.h"
#include "common/model/resource.h"
#include "common/model/usage.h"

namespace taut {

inline constexpr float kNoLimit = std::numeric_limits<float>::infinity();

// An agent's report on a task, besides its usage.
struct TaskReport {
  uint32_t task = 0;
  bool managed = false;  // true if the task's agent applies limits
  // True if the kernel's limit was constant during the whole window.
  bool cpu_steady = false, memory_steady = false;
  // The kernel's limit at the window's end; kNoLimit: none; kAbsent: unknown.
  float cpu_limit_cores = kAbsent;
  float memory_limit_bytes = kAbsent;
  uint32_t cpu_periods = 0, cpu_throttled_periods = 0;

#ifdef TAUT_THIRD_RESOURCE
  bool disk_steady = false;
  float disk_limit_bytes = kAbsent;
#endif

  float limit(Resource r) const { return this->*kLimits[IndexOf(r)]; }
  bool steady(Resource r) const { return this->*kSteady[IndexOf(r)]; }

  static const PerResource<float TaskReport::*> kLimits;
  static const PerResource<bool TaskReport::*> kSteady;
};
inline constexpr PerResource<float TaskReport::*> TaskReport::kLimits = {
    &TaskReport::cpu_limit_cores, &TaskReport::memory_limit_bytes, TAUT_THIRD(&TaskReport::disk_limit_bytes)};
inline constexpr PerResource<bool TaskReport::*> TaskReport::kSteady = {
    &TaskReport::cpu_steady, &TaskReport::memory_steady, TAUT_THIRD(&TaskReport::disk_steady)};

// Number of CFS periods of a task's CPU limit in a window, and number of periods in which the task was throttled.
// Recorded for tasks without an agent, whose CPU limit is unknown.
struct TaskThrottling {
  uint32_t task = 0;
  uint32_t periods = 0, throttled = 0;
};

// CPU that a task used in its start-up window, if the job's setting cpu.startup_window separates this usage.
// TaskWindow and the window's CPU buckets do not contain this usage.
struct TaskStart {
  uint32_t task = 0;
  float peak_cores = kAbsent;  // largest raw sample
  // The task's mean over the whole window, less TaskWindow::cpu_mean_cores (0 if absent); >= 0.
  float more_cores = 0;
  bool is_all = true;  // true if no other CPU usage of the task was measured
};

// The owner's requests per task; the largest if the tasks' requests differ; kAbsent: none.
struct OwnerRequests {
  float cpu_cores = kAbsent, memory_bytes = kAbsent;
#ifdef TAUT_THIRD_RESOURCE
  float disk_bytes = kAbsent;
#endif

  float of(Resource r) const { return this->*kFields[IndexOf(r)]; }

  static const PerResource<float OwnerRequests::*> kFields;
};
inline constexpr PerResource<float OwnerRequests::*> OwnerRequests::kFields = {
    &OwnerRequests::cpu_cores, &OwnerRequests::memory_bytes, TAUT_THIRD(&OwnerRequests::disk_bytes)};

// Numbers of running and of ready tasks as a series reports them; negative: not reported.
struct SaidReplicas {
  int count = -1, ready = -1;

  bool known() const { return count >= 0; }
};

// One job in a closed window. Offsets in `window` refer to the ClosedWindow's vectors.
struct JobWindowData {
  JobId job;
  JobWindow window;
  uint32_t first_report = 0, num_reports = 0;  // the job's range in ClosedWindow::reports, by task
  OwnerRequests requests = {};                 // not stored: see TakeOwnersAmount
  PerResource<bool> of_request = {};  // by Resource: true if the window's limit is the owner's request
  uint32_t first_throttling = 0, num_throttling = 0;  // the job's range in ClosedWindow::throttling, by task
  SaidReplicas replicas = {};                         // numbers that a series reports; not stored
  uint32_t first_start = 0, num_starts = 0;           // the job's range in ClosedWindow::starts, by task
};

struct ClosedWindow {
  WindowId window;
  std::vector<JobWindowData> jobs;  // ascending by JobId; each job has a measured task, load or signal
  std::vector<TaskWindow> tasks;    // tasks of all jobs, grouped by job, ascending
  std::vector<BucketWeight> cpu_buckets;
  std::vector<NamedSignal> signals;
  std::vector<TaskReport> reports;         // reports of agents on tasks; not stored
  std::vector<TaskThrottling> throttling;  // CFS periods of other tasks; not stored
  std::vector<TaskStart> starts;           // not stored: a job's sums are among its signals (start_usage.h)
};

// Replaces the owner's limit by the amount that the job's recommendation replaces: the owner's request if
// `allocation` applies to the request, or if there is no limit. Call this function before the window is processed
// and stored.
void TakeOwnersAmount(const Allocation& allocation, Resource resource, JobWindowData& job);

// Copies job `index` of a closed window to `out` as a day of one window, the input of the engine's
// DaySignals. Reuses the memory of `out`.
void ToJobDay(const ClosedWindow& closed, size_t index, JobDay& out);

}  // namespace taut
