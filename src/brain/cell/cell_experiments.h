// What a cell would need if it were run otherwise: each experiment turns a cell into one or several that are
// compacted on their own (Verma et al., EuroSys 2015, section 5).
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
  // A user is large if the limits of the user's tasks sum up to at least this share of the cell's memory; in
  // (0, 1]. Published: 10 TiB, of cells whose memory is not.
  double large_user = 0.02;
  uint64_t seed = 1;  // of the order in which jobs are dealt to parts
};

// Cells that together run the workload. Each has all machines of the original: compaction chooses.
struct CellVariant {
  std::vector<CellModel> parts;  // at least 1
  CellScoring scoring;
  // What the machines' tasks need together; null: the sum of their reservations.
  std::shared_ptr<const MachineLoads> loads = nullptr;
  // Jobs that were left out, because no machine has room for one of their tasks once it is rounded up.
  uint64_t left_out = 0;
  // Jobs with a limit that no machine has room for, although one had room before: it was cut to a machine's
  // capacity.
  uint64_t cut_to_machine = 0;
};

struct CellExperiment {
  std::string_view name, help;
  // What Borg's paper gives, in machines more than the cell as it is; "" if nothing, or a figure only.
  std::string_view published;
  // FailedPrecondition says why the cell is not changed by it.
  std::function<absl::StatusOr<CellVariant>(const CellModel& cell, const CellExperimentOptions& options)>
      make;
};

// The cell as it is comes first and is called "base".
const std::vector<CellExperiment>& CellExperiments();
// InvalidArgument names the known ones.
absl::StatusOr<const CellExperiment*> CellExperimentByName(std::string_view name);

// What one task of a job asks for instead, by row of CellModel::resources; absent: what it asks for in the
// cell. By names of jobs.
using JobAmounts = absl::flat_hash_map<std::string, std::array<std::optional<int64_t>, kMaxCellResources>>;
// Limits are these. A reservation that was the limit is the new limit; another stays, but is at most the new
// limit. A limit that grows until no machine has room for it is cut to the capacity of the smallest machine that
// had room for the old one. FailedPrecondition if no job of the cell is among them. The texts and `limits` must
// outlive the experiment.
CellExperiment LimitsExperiment(std::string_view name, std::string_view help, const JobAmounts& limits);
// Reservations are these, at most the limits. Otherwise as LimitsExperiment.
CellExperiment ReservationsExperiment(std::string_view name, std::string_view help,
                                      const JobAmounts& reservations);
// Reservations are those of the cell, but machines' tasks need together what `loads` expects. The texts outlive
// it.
CellExperiment LoadsExperiment(std::string_view name, std::string_view help,
                               std::shared_ptr<const MachineLoads> loads);

// The next power of two of `unit` that is at least `amount`; 0 for 0.
int64_t PowerOfTwo(int64_t amount, int64_t unit);

}  // namespace taut::brain
