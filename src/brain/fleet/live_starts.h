// The start-up window of tasks: CPU usage in the window is recorded separately, and a separate CPU limit may
// apply.
#pragma once

#include <span>

#include "brain/fleet/live_job.h"
#include "common/model/reason.h"
#include "common/model/usage.h"

namespace taut::brain {

// Appends the CPU limit of tasks in their start-up window to the explanation of the CPU limit; no effect without
// a start-up window. `sets_starts`: true if the actuator can set limits of starts.
void ExplainStarts(const LiveJob& job, bool sets_starts, Reason& reason);
// Restores the CPU usage of starts from stored days, for a job whose state is lost; no effect if the job has
// data of starts. Stored days do not show whether a limit restricted the usage.
void RestoreStarts(std::span<const JobDay> days, LiveJob& job);
// Returns true if Tautline set this CPU limit (cores) for the start of a task.
bool IsStartLimit(const LiveJob& job, double amount);

}  // namespace taut::brain
