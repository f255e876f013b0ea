// Soft and hard memory limits on the machines of a trace as they were: with the tasks that ran on them, as these
// came, moved and ended. docs/algorithms/overcommit.md, "Soft limits".
#pragma once

#include "absl/status/statusor.h"
#include "brain/cell/recorded_machines.h"
#include "tools/sim/soft_memory_replay.h"

namespace taut::tools {

// As ReplaySoftMemory, on recorded machines; of `options.machines` those of made machines (tasks, placements) are
// not used, and the seed only draws tiers, task by task. A machine's memory is what the predictor says when a
// horizon begins, and again, with the limits of those that came, in a window in which other tasks are there than
// in the window before; at most the sum of its tasks' limits, and the recorded capacity where it is known. A
// killed task waits on the machine on which the trace has it then. Horizons are counted of machines with tasks.
//
// Tasks without an owner's limit, or whose machine is not known, are left out and counted; machines without
// capacity are counted by cause, and so is usage above the capacity.
//
// Reads `source` three times, day by day; holds the days of a horizon and two more: 16 bytes a task-window.
// InvalidArgument as ReplaySoftMemory and ReplayRecordedOvercommit.
absl::StatusOr<SoftMemoryResult> ReplayRecordedSoftMemory(DaySource& source,
                                                          const brain::RecordedMachines& machines,
                                                          const SoftMemoryOptions& options,
                                                          const SoftMemoryHooks& hooks = {});

}  // namespace taut::tools
