// Replays peak predictors over the recorded machines of a trace, with the tasks that started, moved and ended on
// these machines.
#pragma once

#include "absl/status/statusor.h"
#include "brain/cell/recorded_machines.h"
#include "tools/sim/overcommit_replay.h"
#include "tools/sim/replay.h"

namespace taut::tools {

// Replays the predictors like ReplayOvercommit(), but on recorded machines, and ignores the options about random
// machines (tasks, placements, seed). The oracle of a prediction at t covers the tasks on the machine in the
// window before t, until they end or move. The oracle is the highest sum of these tasks' usage, each capped at its
// limit at t. Tasks without an owner's limit or on an unknown machine are omitted and counted.
//
// Reads `source` once, day by day. Memory: 16 bytes per task-window of one horizon and one more day. Returns
// InvalidArgument like ReplayOvercommit(), and if no task-window has a machine and a limit.
absl::StatusOr<OvercommitResult> ReplayRecordedOvercommit(DaySource& source,
                                                          const brain::RecordedMachines& machines,
                                                          Resource resource, const OvercommitOptions& options,
                                                          const OvercommitHooks& hooks = {});

}  // namespace taut::tools
