// Measures the later usage of the tasks that `taut compact` packed, on the machines of each experiment.
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

// Collects the packings of the experiments, writes --placements, and measures the usage after the cell's time.
class AfterPacking {
 public:
  // Prepares the measurement. `placements` may be null. `usage` and `placements` must outlive this object. Returns
  // InvalidArgument for an invalid --after, and Cancelled after an interrupt.
  absl::Status Begin(const CompactArgs& args, const std::optional<CellUsage>& usage,
                     const brain::CellModel& cell, OutputFile* placements);
  // Returns true if the caller must pass packings to Take().
  bool wanted() const { return packed_.has_value() || placements_ != nullptr; }
  void Take(const CompactionRun& run, const brain::CellModel& part, uint32_t trial,
            const brain::TrialPacking& packing);
  // Measures the usage of all packings. REQUIRES: Take() received all packings.
  absl::Status Measure();

  // Returns a table, or the reason why there is no measurement; "" if there is no usage.
  std::string Text() const;
  // Returns the result of one experiment as JSON; null if nothing was measured.
  Json Of(const brain::CellExperiment* experiment) const;
  // Returns the length of the measured usage in seconds; null if nothing was measured.
  Json Seconds() const;

 private:
  const CellUsage* usage_ = nullptr;
  OutputFile* placements_ = nullptr;
  WindowId to_;  // end of the measured usage, which starts at the cell's time
  std::optional<PackedMachines> packed_;
  std::vector<const brain::CellExperiment*> experiments_;  // experiment of each packing, by index
  std::vector<std::pair<const brain::CellExperiment*, PackedUsage>> measured_;
};

// Returns InvalidArgument for an invalid --after.
absl::Status CheckAfter(const CompactArgs& args);

}  // namespace taut::tools
