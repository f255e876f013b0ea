// The first minutes of tasks, whose CPU usage is kept apart and which may have a limit of their own.
#pragma once

#include <span>

#include "brain/fleet/live_job.h"
#include "common/model/reason.h"
#include "common/model/usage.h"

namespace taut::brain {

// Appends to the reason of the CPU limit what tasks get in their start-up window; nothing where that is off.
// `sets_starts`: whether the actuator sets limits of starts.
void ExplainStarts(const LiveJob& job, bool sets_starts, Reason& reason);
// Of a job whose state is lost, the usage of starts by its stored days; whether it was cut off is not known. A job
// that has any keeps it.
void RestoreStarts(std::span<const JobDay> days, LiveJob& job);
// Is this CPU amount one that tasks were given for their start?
bool IsStartLimit(const LiveJob& job, double amount);

}  // namespace taut::brain
