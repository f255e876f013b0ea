// Simulates a cell over time under several setups in parallel.
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

// A variation of a cell's simulation.
struct CellSetup {
  std::string_view name, help;
  // Returns true for events that the setup omits; null: the setup keeps all events.
  bool (*leaves_out)(brain::CellEventKind kind) = nullptr;
  void (*change)(brain::CellSimulationOptions& options) = nullptr;  // change of the options; null: none
  // Recommender that sets the limits of services (cell_autoscaler.h); absent: limits stay unchanged.
  std::optional<brain::Policy> limits = std::nullopt;
};
// Returns all setups. The first, "base", changes nothing.
const std::vector<CellSetup>& CellSetups();
// Returns the setup with this name; InvalidArgument, with the known setups, for an unknown name.
absl::StatusOr<const CellSetup*> CellSetupByName(std::string_view name);

struct CellRunsOptions {
  brain::CellSimulationOptions simulation;
  std::vector<const CellSetup*> setups;  // setups to run; "base" runs first even if it is not listed
  int threads = 0;                       // number of threads; 0: one per core
};

struct CellRunsHooks {
  std::function<void(const brain::CellStep&)> on_step;  // receives the steps of "base"
  std::function<void(double share)> on_progress;        // called from any thread, one call at a time
  std::function<bool()> should_stop;                    // called from any thread; true ends the runs
};

struct CellRun {
  const CellSetup* setup = nullptr;
  brain::CellTotals totals;
};

// Runs "base" and then the setups. Returns InvalidArgument if CheckCellSimulation() rejects the options. The
// result does not depend on the number of threads. REQUIRES: the requirements of CellSimulation.
absl::StatusOr<std::vector<CellRun>> RunCells(const brain::CellModel& model,
                                              const brain::CellWorkload& workload,
                                              const CellRunsOptions& options,
                                              const CellRunsHooks& hooks = {});

}  // namespace taut::tools
