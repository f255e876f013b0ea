// Recorded usage of a cell's tasks until a time, from which predictors of whole machines predict the peak of
// any set of tasks. docs/algorithms/cell.md, "With each recommender's limits and each predictor's
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

// A predictor of whole machines, in the form that packing uses.
struct WholeMachines {
  std::shared_ptr<const brain::MachineLoads> loads;
  std::string lacks;  // SummedPeak::Lacks() of the first resource whose history is too short; "" if none
  // Bytes of recorded usage per task, over all resources. All predictors of one call share this memory.
  size_t bytes_a_task = 0;
};

struct MachineHistoriesOptions {
  std::vector<std::string> predictors;  // specs that NewSummedPeak parses
  brain::OvercommitSettings overcommit;
  WindowId until;     // only windows before it are read
  uint64_t seed = 1;  // seed of the random machines from which a predictor learns
};

struct MachineHistoriesHooks {
  std::function<void(std::string_view what, double share)> on_progress;
  std::function<bool()> should_stop;
};

// Returns an entry for each predictor, in order. Tasks of the cell's jobs use the history of the recorded
// tasks. A task without history is predicted to use its reservation. A task with less history than the
// predictor requires is predicted to use its limit. Usage is capped at the recorded limit and at the current
// limit. A predictor that learns from a cell (pool) observes machines made of the cell's tasks, about 25 on
// each, in two random placements.
//
// Reads `source` up to `until` once for all tasks and once per resource. Memory: two bytes per window that a
// predictor looks back to, task and resource (16 KiB per task for the pool's two weeks), and twice that for
// the resource that is being read. Returns InvalidArgument as NewSummedPeak does, and Cancelled if should_stop
// returned true.
absl::StatusOr<std::vector<WholeMachines>> ReplayMachineHistories(DaySource& source,
                                                                  const brain::CellModel& cell,
                                                                  const MachineHistoriesOptions& options,
                                                                  const MachineHistoriesHooks& hooks = {});

}  // namespace taut::tools
