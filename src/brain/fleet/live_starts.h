// The first minutes of tasks, whose CPU usage is kept apart and which may have a limit of their own.
#pragma once

#include <span>

#include "brain/fleet/live_job.h"
#include "common/model/reason.h"
#include "common/model/usage.h"

namespace taut::brain {

// Appends to the reason of the CPU limit what tasks get in their start-up window; no effect if that is off.
// `sets_starts`: whether the actuator can set limits of starts.
void ExplainStarts(const LiveJob& job, bool sets_starts, Reason& reason);
// Restores the usage of starts from stored days, for a job whose state is lost; a job that has starts keeps
// them. Whether a limit had cut the usage off is not known.
void RestoreStarts(std::span<const JobDay> days, LiveJob& job);
// Returns whether this CPU amount is a limit that tasks got for their start.
bool IsStartLimit(const LiveJob& job, double amount);

}  // namespace taut::brain
