// What the machines of `taut compact` had to bear afterwards: where each experiment put its tasks, and what they
// used then.
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

// Collects the packings of the experiments, writes --placements, and measures the usage that followed.
class AfterPacking {
 public:
  // `placements` may be null. Cancelled if it was interrupted; InvalidArgument for a bad --after.
  absl::Status Begin(const CompactArgs& args, const std::optional<CellUsage>& usage,
                     const brain::CellModel& cell, OutputFile* placements);
  // Whether packings are needed.
  bool wanted() const { return packed_.has_value() || placements_ != nullptr; }
  void Take(const CompactionRun& run, const brain::CellModel& part, uint32_t trial,
            const brain::TrialPacking& packing);
  // After the last packing.
  absl::Status Measure();

  // A table, or why there is none: lines; "" without usage.
  std::string Text() const;
  // Of one experiment; null if nothing was measured.
  Json Of(const brain::CellExperiment* experiment) const;
  // Seconds of usage that were measured; null if none.
  Json Seconds() const;

 private:
  const CellUsage* usage_ = nullptr;
  OutputFile* placements_ = nullptr;
  WindowId to_;  // usage from the cell's time until then is measured
  std::optional<PackedMachines> packed_;
  std::vector<const brain::CellExperiment*> experiments_;  // by packing
  std::vector<std::pair<const brain::CellExperiment*, PackedUsage>> measured_;
};

// InvalidArgument for an --after that is none.
absl::Status CheckAfter(const CompactArgs& args);

}  // namespace taut::tools
