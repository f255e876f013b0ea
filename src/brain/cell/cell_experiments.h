// Experiments on a cell: each experiment derives one or more cells, which are then compacted separately, to
// measure the cost of a policy in machines (Verma et al., EuroSys 2015, section 5).
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
  // A user is large if the limits of the user's tasks sum up to at least this share of the cell's memory, (0, 1].
  // The paper's threshold is 10 TiB, but the paper does not publish the memory of its cells.
  double large_user = 0.02;
  uint64_t seed = 1;  // seed of the order in which jobs are dealt to parts
};

// Cells that run the workload together. Each part has all machines of the original cell; compaction chooses among
// the machines.
struct CellVariant {
  std::vector<CellModel> parts;  // at least 1
  CellScoring scoring;
  // Expected joint usage of a machine's tasks; null: the sum of their reservations.
  std::shared_ptr<const MachineLoads> loads = nullptr;
  // Number of jobs that were removed because no machine has room for one of their tasks after rounding up.
  uint64_t left_out = 0;
  // Number of jobs whose new limit fits no machine although the old limit did; the limit was cut to a machine's
  // capacity.
  uint64_t cut_to_machine = 0;
};

// An experiment by name.
struct CellExperiment {
  std::string_view name, help;
  // Extra machines compared with the base cell according to Borg's paper; "" if the paper has no number.
  std::string_view published;
  // Returns FailedPrecondition with the reason if the experiment does not change this cell.
  std::function<absl::StatusOr<CellVariant>(const CellModel& cell, const CellExperimentOptions& options)>
      make;
};

// Returns all experiments. The first experiment, "base", leaves the cell unchanged.
const std::vector<CellExperiment>& CellExperiments();
// Returns the experiment with this name; InvalidArgument lists the known names.
absl::StatusOr<const CellExperiment*> CellExperimentByName(std::string_view name);

// Amounts of one task of a job, by the job's name and then by row of CellModel::resources; absent: the job's
// own amount.
using JobAmounts = absl::flat_hash_map<std::string, std::array<std::optional<int64_t>, kMaxCellResources>>;
// Replaces the limits of the jobs that have a row in `limits`. A reservation that equalled the limit becomes the
// new limit; any other reservation is lowered to at most the new limit. A new limit that fits no machine is cut to
// the capacity of the smallest machine that had room for the old limit.
// Running the experiment returns FailedPrecondition if `limits` has no job of the cell. The texts and
// `limits` must outlive the experiment.
CellExperiment LimitsExperiment(std::string_view name, std::string_view help, const JobAmounts& limits);
// Replaces reservations, each at most the limit. Errors and lifetimes are as for LimitsExperiment.
CellExperiment ReservationsExperiment(std::string_view name, std::string_view help,
                                      const JobAmounts& reservations);
// Leaves the cell unchanged, but `loads` predicts the joint usage of the tasks of a machine. The texts must
// outlive the experiment.
CellExperiment LoadsExperiment(std::string_view name, std::string_view help,
                               std::shared_ptr<const MachineLoads> loads);

// Returns the smallest unit * 2^n (n >= 0) that is at least `amount`; 0 if `amount` <= 0.
int64_t PowerOfTwo(int64_t amount, int64_t unit);

}  // namespace taut::brain
