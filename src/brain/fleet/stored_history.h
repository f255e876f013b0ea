// Steps a lane through stored days of a job: for retraining, and for what-ifs under other settings.
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
  std::span<const JobDay> days;  // ascending
  // OOM kills of the job, ascending by time. Only lanes of memory use the kills.
  std::span<const OomRecord> ooms;
  // Decisions of the job for any target, ascending. Usage above a limit that was applied at the time was not
  // visible (Signal::cut_at).
  std::span<const Decision> decisions = {};
  // First day whose windows are not all stored. This day and later days begin and do not end.
  int32_t open_day = INT32_MAX;
  MemorySignal memory_signal = MemorySignal::kUsage;
};

// Callbacks for each window. `closes` passes the window to the lane (JobStepper::Observe). `killed`: kills before
// the window's end that no earlier callback received.
struct HistorySteps {
  // Before the lane observes the kills.
  absl::FunctionRef<void(const Signal&, std::span<const OomRecord> killed)> begins;
  // After the lane observed the kills.
  absl::FunctionRef<void(const Signal&, std::span<const OomRecord> killed)> closes;
};

// Runs days, kills and windows in the order in which they happened; a kill comes before the end of its window.
// REQUIRES: the lane has not begun the first day. Ends at the beginning of open_day, if it is set. `signals` is
// scratch.
void StepHistory(const StoredHistory& history, DaySignals& signals, ManagedLane& lane,
                 const HistorySteps& steps);

}  // namespace taut::brain
