// Steps a lane through the stored days of a job, for retraining and for what-ifs under other settings.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "absl/functional/function_ref.h"
#include "brain/fleet/job_stepper.h"
#include "brain/fleet/signal_builder.h"
#include "common/model/rollout.h"
#include "common/model/usage.h"

namespace taut::brain {

// Stored data of one job for one resource.
struct StoredHistory {
  Resource resource = Resource::kMemory;
  std::span<const JobDay> days;  // stored days of the job, ascending
  // OOM kills of the job, ascending by time. Only memory lanes use the kills.
  std::span<const OomRecord> ooms;
  // Decisions of the job for any target, ascending. The decisions determine the applied limits, above which usage
  // could not be observed (Signal::cut_at).
  std::span<const Decision> decisions = {};
  // First day whose windows are not all stored. This day and later days are started but not ended.
  int32_t open_day = INT32_MAX;
  MemorySignal memory_signal = MemorySignal::kUsage;
};

// Callbacks for each window. `killed`: kills before the window's end that no earlier callback received.
struct HistorySteps {
  // Called before the lane observes the kills.
  absl::FunctionRef<void(const Signal&, std::span<const OomRecord> killed)> begins;
  // Called after the lane observed the kills. Passes the window to the lane (JobStepper::Observe).
  absl::FunctionRef<void(const Signal&, std::span<const OomRecord> killed)> closes;
};

// Processes days, kills and windows in the order in which they happened; a kill precedes the end of its window.
// If open_day is set, it is started last. `signals` is reused memory. REQUIRES: the lane has not started the
// first day.
void StepHistory(const StoredHistory& history, DaySignals& signals, ManagedLane& lane,
                 const HistorySteps& steps);

}  // namespace taut::brain
