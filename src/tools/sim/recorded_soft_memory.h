// Replays soft and hard memory limits on the machines that a trace recorded, with the tasks that started,
// moved and ended on them. docs/algorithms/overcommit.md, "Soft limits".
#pragma once

#include "absl/status/statusor.h"
#include "brain/cell/recorded_machines.h"
#include "tools/sim/soft_memory_replay.h"

namespace taut::tools {

// Replays memory limits as ReplaySoftMemory does, on recorded machines. The options of synthetic machines
// (tasks, placements) in `options.machines` are ignored, and the seed only draws tiers, task by task.
//
// A machine's memory is the prediction at the beginning of a horizon. When the tasks on the machine change,
// the memory is predicted again, and the limits of the tasks that arrived are added. The memory is at most
// the sum of the tasks' limits, and at most the recorded capacity if the capacity is known. A killed task
// waits on the machine on which the trace has the task at that time. Horizons are counted for machines with
// tasks.
//
// Tasks without an owner's limit, or on an unknown machine, are left out and counted. Machines without
// capacity are counted by cause, and so is usage above the capacity.
//
// Reads `source` three times, day by day. Memory: the days of one horizon and two more, 16 bytes per
// task-window. Returns InvalidArgument as ReplaySoftMemory and ReplayRecordedOvercommit do.
absl::StatusOr<SoftMemoryResult> ReplayRecordedSoftMemory(DaySource& source,
                                                          const brain::RecordedMachines& machines,
                                                          const SoftMemoryOptions& options,
                                                          const SoftMemoryHooks& hooks = {});

}  // namespace taut::tools
