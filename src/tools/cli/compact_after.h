// Measures the later usage on the machines of `taut compact`: where each experiment placed its tasks, and how
// much the tasks used afterwards.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "tools/cli/cell_usage.h"
#include "tools/cli/compact_command.h"
#include "tools/cli/json_text.h"
#include "tools/cli/outputs.h"
#include "tools/sim/compaction_runs.h"
#include "tools/sim/packed_usage.h"

namespace taut::tools {

// Collects the packings of the experiments, writes --placements, and measures the usage after the cell's
// time.
class AfterPacking {
 public:
  // Prepares the measurement; `placements` may be null. Keeps pointers to `usage` and `placements`. Returns
  // Cancelled if the user interrupted it, InvalidArgument for an invalid --after.
  absl::Status Begin(const CompactArgs& args, const std::optional<CellUsage>& usage,
                     const brain::CellModel& cell, OutputFile* placements);
  // Returns true if packings are needed, for a measurement or for `placements`.
  bool wanted() const { return packed_.has_value() || placements_ != nullptr; }
  void Take(const CompactionRun& run, const brain::CellModel& part, uint32_t trial,
            const brain::TrialPacking& packing);
  // Measures the usage of all packings. Call it after the last packing.
  absl::Status Measure();

  // Returns a table, or the reason why nothing was measured; "" without usage.
  std::string Text() const;
  // Returns the result of one experiment as JSON; null if nothing was measured.
  Json Of(const brain::CellExperiment* experiment) const;
  // Returns the length of the measured usage in seconds; null if nothing was measured.
  Json Seconds() const;

 private:
  const CellUsage* usage_ = nullptr;
  OutputFile* placements_ = nullptr;
  WindowId to_;  // end of the measured usage, which begins at the cell's time
  std::optional<PackedMachines> packed_;
  std::vector<const brain::CellExperiment*> experiments_;  // experiment of each packing
  std::vector<std::pair<const brain::CellExperiment*, PackedUsage>> measured_;
};

// Returns InvalidArgument for an invalid --after.
absl::Status CheckAfter(const CompactArgs& args);

}  // namespace taut::tools
