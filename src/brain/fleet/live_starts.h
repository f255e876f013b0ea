// The start-up window of tasks: CPU usage in it is stored separately, and a separate CPU limit may apply.
#pragma once

#include <span>

#include "brain/fleet/live_job.h"
#include "common/model/reason.h"
#include "common/model/usage.h"

namespace taut::brain {

// Appends to the reason of the CPU limit the limit of tasks in their start-up window; no effect without a start-up
// window. `sets_starts`: whether the actuator can set limits of starts.
void ExplainStarts(const LiveJob& job, bool sets_starts, Reason& reason);
// Restores the usage of starts from stored days, for a job whose state is lost; no effect for a job that has
// starts. The stored days do not show whether a limit cut the usage off.
void RestoreStarts(std::span<const JobDay> days, LiveJob& job);
// Returns true if this CPU amount (cores) is a limit that Tautline set for the start of a task.
bool IsStartLimit(const LiveJob& job, double amount);

}  // namespace taut::brain
