// A cell over time under several setups, side by side.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/cell/cell_events.h"
#include "brain/cell/cell_simulation.h"
#include "brain/recommend/policy.h"

namespace taut::tools {

// How a cell is run otherwise.
struct CellSetup {
  std::string_view name, help;
  // What the setup leaves out of a workload's events; null: nothing.
  bool (*leaves_out)(brain::CellEventKind kind) = nullptr;
  void (*change)(brain::CellSimulationOptions& options) = nullptr;  // null: nothing
  std::optional<brain::Policy> limits =
      std::nullopt;  // sets the limits of services (cell_autoscaler.h); absent: none
};
// The cell as it is comes first and is called "base".
const std::vector<CellSetup>& CellSetups();
// InvalidArgument names the known ones.
absl::StatusOr<const CellSetup*> CellSetupByName(std::string_view name);

struct CellRunsOptions {
  brain::CellSimulationOptions simulation;
  std::vector<const CellSetup*> setups;  // "base" is run first in any case
  int threads = 0;                       // 0: one a core
};

struct CellRunsHooks {
  std::function<void(const brain::CellStep&)> on_step;  // of the base
  std::function<void(double share)> on_progress;        // from any thread, one call at a time
  std::function<bool()> should_stop;                    // from any thread: true ends the runs
};

struct CellRun {
  const CellSetup* setup = nullptr;
  brain::CellTotals totals;
};

// InvalidArgument as CheckCellSimulation. The result is the same on any number of threads. REQUIRES: as
// CellSimulation.
absl::StatusOr<std::vector<CellRun>> RunCells(const brain::CellModel& model,
                                              const brain::CellWorkload& workload,
                                              const CellRunsOptions& options,
                                              const CellRunsHooks& hooks = {});

}  // namespace taut::tools
