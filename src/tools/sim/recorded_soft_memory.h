// Replays soft and hard memory limits on the recorded machines of a trace, with the tasks that started, moved and
// ended on these machines. Source: docs/algorithms/overcommit.md, "Soft limits".
#pragma once

#include "absl/status/statusor.h"
#include "brain/cell/recorded_machines.h"
#include "tools/sim/soft_memory_replay.h"

namespace taut::tools {

// Replays memory limits like ReplaySoftMemory(), but on recorded machines. Ignores the options about random
// machines (tasks, placements) in `options.machines`; the seed is only used to draw tiers, task by task.
//
// A machine's memory is the prediction at the beginning of a horizon. When tasks arrive or leave, the memory is
// predicted again, plus the limits of the arrived tasks. The memory is at most the sum of the tasks' limits, and
// at most the recorded capacity if known. A killed task waits on the machine that the trace records for the task
// at that time. Horizons are counted for machines with tasks.
//
// Tasks without an owner's limit or on an unknown machine are omitted and counted. Machines without capacity are
// counted by cause, and usage above the capacity is counted.
//
// Reads `source` three times, day by day. Memory: 16 bytes per task-window of one horizon and two more days.
// Returns InvalidArgument like ReplaySoftMemory() and ReplayRecordedOvercommit().
absl::StatusOr<SoftMemoryResult> ReplayRecordedSoftMemory(DaySource& source,
                                                          const brain::RecordedMachines& machines,
                                                          const SoftMemoryOptions& options,
                                                          const SoftMemoryHooks& hooks = {});

}  // namespace taut::tools
