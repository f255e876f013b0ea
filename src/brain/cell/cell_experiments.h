// Experiments that measure the cost of a policy in machines (Verma et al., EuroSys 2015, section 5). Each
// experiment derives one or more cells from a cell, and each derived cell is compacted.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "brain/cell/cell_model.h"
#include "brain/cell/machine_scores.h"

namespace taut::brain {

struct CellExperimentOptions {
  CellScoring scoring;
  // Smallest share of the cell's memory, in (0, 1], that makes a user large. A user's share is the sum of the
  // memory limits of the user's tasks. The paper's threshold is 10 TiB, but the paper does not publish the memory
  // of its cells.
  double large_user = 0.02;
  uint64_t seed = 1;  // seed of the order in which jobs are assigned to parts
};

// Cells that run the workload together. Each part has all machines of the original cell; compaction chooses
// among these machines.
struct CellVariant {
  std::vector<CellModel> parts;  // cells of the variant, at least one
  CellScoring scoring;
  // Predicts the joint usage of a machine's tasks; null if the sum of their reservations is used.
  std::shared_ptr<const MachineLoads> loads = nullptr;
  // Number of jobs that were removed, because after rounding up no machine can run one of their tasks.
  uint64_t left_out = 0;
  // Number of jobs whose limit was reduced to a machine's capacity, because the new limit fits no machine although
  // the old limit fits a machine.
  uint64_t cut_to_machine = 0;
};

// An experiment and its name.
struct CellExperiment {
  std::string_view name, help;
  // Additional machines relative to the base cell, as published in Borg's paper; "" if the paper has no number.
  std::string_view published;
  // Derives the cells. Returns FailedPrecondition with the reason if the experiment does not change this cell.
  std::function<absl::StatusOr<CellVariant>(const CellModel& cell, const CellExperimentOptions& options)>
      make;
};

// Returns all experiments. The first experiment, "base", leaves the cell unchanged.
const std::vector<CellExperiment>& CellExperiments();
// Returns the experiment with this name; InvalidArgument lists the known names.
absl::StatusOr<const CellExperiment*> CellExperimentByName(std::string_view name);

// Amounts of one task by the job's name and by row of CellModel::resources. An absent amount means that the job
// keeps its own amount.
using JobAmounts = absl::flat_hash_map<std::string, std::array<std::optional<int64_t>, kMaxCellResources>>;
// Returns an experiment that replaces the limits of the jobs that have a row in `limits`. A reservation that
// equals the limit becomes the new limit; any other reservation is lowered to at most the new limit. A new limit
// that fits no machine is reduced to the capacity of the smallest machine into which the old limit fits. Running
// the experiment returns FailedPrecondition if `limits` has no job of the cell. The texts and `limits` must
// outlive the experiment.
CellExperiment LimitsExperiment(std::string_view name, std::string_view help, const JobAmounts& limits);
// Returns an experiment that replaces reservations, each at most the limit. Running the experiment returns the
// errors of LimitsExperiment. The texts and `reservations` must outlive the experiment.
CellExperiment ReservationsExperiment(std::string_view name, std::string_view help,
                                      const JobAmounts& reservations);
// Returns an experiment that leaves the cell unchanged, but predicts the joint usage of a machine's tasks with
// `loads`. The texts must outlive the experiment.
CellExperiment LoadsExperiment(std::string_view name, std::string_view help,
                               std::shared_ptr<const MachineLoads> loads);

// Returns the smallest unit * 2^n (n >= 0) that is at least `amount`; 0 if `amount` <= 0.
int64_t PowerOfTwo(int64_t amount, int64_t unit);

}  // namespace taut::brain
