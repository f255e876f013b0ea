// Replays peak predictors over the machines that a trace recorded, with the tasks that started, moved and
// ended on them.
#pragma once

#include "absl/status/statusor.h"
#include "brain/cell/recorded_machines.h"
#include "tools/sim/overcommit_replay.h"
#include "tools/sim/replay.h"

namespace taut::tools {

// Replays the predictors as ReplayOvercommit does, on recorded machines. The options of synthetic machines
// (tasks, placements, seed) are ignored. The oracle of a prediction at t considers the tasks that were on the
// machine in the window before t, for as long as these tasks stay. The oracle is the highest sum of the
// tasks' usages, each capped at the task's limit at t. A task that ended or moved away uses nothing. Tasks
// without an owner's limit, or on an unknown machine, are left out and counted.
//
// Reads `source` once, day by day. Memory: the days of one horizon and one more, 16 bytes per task-window.
// Returns InvalidArgument as ReplayOvercommit does, and if no task-window has a machine and a limit.
absl::StatusOr<OvercommitResult> ReplayRecordedOvercommit(DaySource& source,
                                                          const brain::RecordedMachines& machines,
                                                          Resource resource, const OvercommitOptions& options,
                                                          const OvercommitHooks& hooks = {});

}  // namespace taut::tools
