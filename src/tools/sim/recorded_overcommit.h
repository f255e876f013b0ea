// What each peak predictor would have predicted for the machines of a trace as they were: with the tasks that ran
// on them, as these came, moved and ended.
#pragma once

#include "absl/status/statusor.h"
#include "brain/cell/recorded_machines.h"
#include "tools/sim/overcommit_replay.h"
#include "tools/sim/replay.h"

namespace taut::tools {

// As ReplayOvercommit, on recorded machines; of the options those of made machines (tasks, placements, seed) are
// not used. The oracle of a prediction at t is the highest sum of the usages, each at most its task's limit at t,
// of the tasks that were on the machine in the window before t, for as long as they stay there; a task that ended
// or moved away uses nothing. Tasks without an owner's limit, or whose machine is not known, are left out and
// counted.
//
// Reads `source` once, day by day; holds the days of a horizon and one more: 16 bytes a task-window.
// InvalidArgument as ReplayOvercommit, and if no task-window has a machine and a limit.
absl::StatusOr<OvercommitResult> ReplayRecordedOvercommit(DaySource& source,
                                                          const brain::RecordedMachines& machines,
                                                          Resource resource, const OvercommitOptions& options,
                                                          const OvercommitHooks& hooks = {});

}  // namespace taut::tools
