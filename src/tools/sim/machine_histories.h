// Recorded usage of a cell's tasks up to a given time, from which predictors of whole machines predict the peak of
// any set of tasks. Source: docs/algorithms/cell.md, "With each recommender's limits and each predictor's
// reservations".
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/cell/cell_model.h"
#include "brain/cell/machine_load.h"
#include "brain/overcommit/settings.h"
#include "tools/sim/recorded_tasks.h"

namespace taut::tools {

// A predictor of whole machines in the form that packing uses.
struct WholeMachines {
  std::shared_ptr<const brain::MachineLoads> loads;
  std::string lacks;  // SummedPeak::Lacks() of the first resource with too short a history; "" if none
  // Bytes of recorded usage per task over all resources. The predictors of one call share this memory.
  size_t bytes_a_task = 0;
};

struct MachineHistoriesOptions {
  std::vector<std::string> predictors;  // specs for NewSummedPeak()
  brain::OvercommitSettings overcommit;
  WindowId until;     // end of the usage that is read, exclusive
  uint64_t seed = 1;  // seed of the random machines from which a predictor learns
};

struct MachineHistoriesHooks {
  std::function<void(std::string_view what, double share)> on_progress;
  std::function<bool()> should_stop;
};

// Returns one entry per predictor, in order. A task of the cell uses the history of a recorded task. A task
// without history is predicted to use its reservation, and a task with too little history to use its limit. Usage
// is capped at the recorded limit and at the current limit. A predictor that learns from a cell (pool) observes
// the cell's tasks on random machines with about 25 tasks each, in two placements.
//
// Reads `source` up to `until` once for all tasks, and once per resource. Memory: two bytes per task, resource and
// window of the predictors' history (16 KiB per task for the pool's two weeks), and twice that for the resource
// being read. Returns InvalidArgument if NewSummedPeak() rejects a predictor, and Cancelled if should_stop
// returned true.
absl::StatusOr<std::vector<WholeMachines>> ReplayMachineHistories(DaySource& source,
                                                                  const brain::CellModel& cell,
                                                                  const MachineHistoriesOptions& options,
                                                                  const MachineHistoriesHooks& hooks = {});

}  // namespace taut::tools
