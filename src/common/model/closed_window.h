// All jobs of a cell in one window that is over: what ingest yields, the engine steps and a store keeps.
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

// What an agent reported of a task beside its usage.
struct TaskReport {
  uint32_t task = 0;
  bool managed = false;  // its agent applies limits
  // The limit in the kernel was the same during the whole window.
  bool cpu_steady = false, memory_steady = false;
  // In the kernel at the window's end; kNoLimit: none; kAbsent: not known.
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

// The CFS periods of a task's CPU limit in a window, and those in which it was throttled, where no agent
// reports: of which limit is not known.
struct TaskThrottling {
  uint32_t task = 0;
  uint32_t periods = 0, throttled = 0;
};

// CPU that a task used in its start-up window, where the job's setting cpu.startup_window keeps it apart: neither
// TaskWindow nor the window's buckets have it.
struct TaskStart {
  uint32_t task = 0;
  float peak_cores = kAbsent;  // as TaskWindow::cpu_peak_cores
  // With TaskWindow::cpu_mean_cores, or alone where that is absent, the task's mean of the whole window; >= 0.
  float more_cores = 0;
  bool is_all = true;  // no other CPU usage of the task was measured
};

// What the owner asked for each task: where tasks differ the largest; kAbsent: nothing.
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

// How many tasks run, and how many of them serve, by the word of a series; below 0: not said.
struct SaidReplicas {
  int count = -1, ready = -1;

  bool known() const { return count >= 0; }
};

// Offsets in `window` point into the ClosedWindow's vectors.
struct JobWindowData {
  JobId job;
  JobWindow window;
  uint32_t first_report = 0, num_reports = 0;  // into ClosedWindow::reports, ordered by task
  OwnerRequests requests = {};                 // not stored: see TakeOwnersAmount
  PerResource<bool> of_request = {};           // by Resource: the window's limit is the owner's request
  uint32_t first_throttling = 0, num_throttling = 0;  // into ClosedWindow::throttling, ordered by task
  SaidReplicas replicas = {};                         // not stored
  uint32_t first_start = 0, num_starts = 0;           // into ClosedWindow::starts, ordered by task
};

struct ClosedWindow {
  WindowId window;
  std::vector<JobWindowData> jobs;  // ascending JobId, each with a task, a load or a signal measured
  std::vector<TaskWindow> tasks;    // of a job ascending
  std::vector<BucketWeight> cpu_buckets;
  std::vector<NamedSignal> signals;
  std::vector<TaskReport> reports;         // of tasks that agents measure; not stored
  std::vector<TaskThrottling> throttling;  // of others whose periods are counted; not stored
  std::vector<TaskStart> starts;           // not stored: a job's sums are among its signals (start_usage.h)
};

// Before a window is processed and stored: the owner's limit becomes the amount that the job's recommendation
// replaces, which is the owner's request where the allocation says so, or where there is no limit.
void TakeOwnersAmount(const Allocation& allocation, Resource resource, JobWindowData& job);

// Job `index` of a closed window as a day of one window, as the engine's DaySignals takes it. Reuses out's
// memory.
void ToJobDay(const ClosedWindow& closed, size_t index, JobDay& out);

}  // namespace taut
