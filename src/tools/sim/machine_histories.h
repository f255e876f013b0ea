// What a cell's tasks used until a time, so that a predictor of whole machines can say what any of them would need
// together. docs/algorithms/cell.md, "With each recommender's limits and each predictor's reservations".
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

// A predictor of whole machines, for packing.
struct WholeMachines {
  std::shared_ptr<const brain::MachineLoads> loads;
  std::string lacks;        // SummedPeak::Lacks() of the first resource that lacks anything
  size_t bytes_a_task = 0;  // of recorded usage, all resources; shared by all predictors of one call
};

struct MachineHistoriesOptions {
  std::vector<std::string> predictors;  // as NewSummedPeak
  brain::OvercommitSettings overcommit;
  WindowId until;     // the windows before it are seen
  uint64_t seed = 1;  // of the machines from which a predictor learns
};

struct MachineHistoriesHooks {
  std::function<void(std::string_view what, double share)> on_progress;
  std::function<bool()> should_stop;
};

// Of each predictor, in order. Tasks of the cell's jobs have the history of those recorded; without one they
// count with their reservation, and with less than the predictor asks for with their limit. Usage above the limit
// of then or now counts as the limit. A predictor that learns from a cell (pool) sees machines that are made of
// the cell's tasks, about 25 on each, in two random placements.
//
// Reads `source` up to `until` once a resource; holds two bytes for each window that a predictor looks back to,
// each task and resource (16 KiB a task for the pool's two weeks), and twice that of one resource while it reads.
// InvalidArgument as NewSummedPeak; Cancelled if should_stop ended it.
absl::StatusOr<std::vector<WholeMachines>> ReplayMachineHistories(DaySource& source,
                                                                  const brain::CellModel& cell,
                                                                  const MachineHistoriesOptions& options,
                                                                  const MachineHistoriesHooks& hooks = {});

}  // namespace taut::tools
