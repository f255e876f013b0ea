// Stored days of a job stepped through a lane again: by retraining, and by a what-if under other settings.
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

struct StoredHistory {
  Resource resource = Resource::kMemory;
  std::span<const JobDay> days;  // ascending
  // The job's, ascending by time. Of memory only: for CPU they are ignored.
  std::span<const OomRecord> ooms;
  // The job's decisions of any target, ascending: usage above a limit that was applied then could not show
  // (Signal::cut_at).
  std::span<const Decision> decisions = {};
  // Of this day and later ones not all windows are stored: they begin and do not end.
  int32_t open_day = INT32_MAX;
  MemorySignal memory_signal = MemorySignal::kUsage;
};

// What is done at each window. `closes` takes it into the lane (JobStepper::Observe). `killed` are the kills
// before its end that no window before it had.
struct HistorySteps {
  absl::FunctionRef<void(const Signal&, std::span<const OomRecord> killed)> begins;  // before the kills
  absl::FunctionRef<void(const Signal&, std::span<const OomRecord> killed)> closes;  // after them
};

// Days begin, kills are taken in before the window closes that they were in, windows close and days end, in
// the order in which it happened. The lane has not begun the first day. Ends at the beginning of open_day, if
// that is given. `signals` is scratch.
void StepHistory(const StoredHistory& history, DaySignals& signals, ManagedLane& lane,
                 const HistorySteps& steps);

}  // namespace taut::brain
