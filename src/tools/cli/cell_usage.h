// Reads the usage of a cell's tasks for `taut compact`, and replays recommenders and predictors over it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/cli/compact_command.h"
#include "tools/cli/input.h"
#include "tools/cli/json_text.h"
#include "tools/sim/cell_demands.h"

namespace taut::tools {

struct CellUsage {
  std::unique_ptr<LoadedTrace> trace;
  UsageSpan span;
  WindowId until;  // time of the cell; only windows before it are used
};

// Returns true if the arguments name a recommender or a predictor.
bool AsksForDemands(const CompactArgs& args);
// Returns InvalidArgument for contradictory arguments of usage, recommenders and predictors.
absl::Status CheckDemandArgs(const CompactArgs& args);
// Returns --at in seconds. REQUIRES: --at is not empty.
absl::StatusOr<int64_t> SecondsOfAt(const CompactArgs& args);

// Reads the usage of a cell: from --usage, or for a cell of event tables from the tables of usage among the
// paths. The time of the usage is `at_s`, the time of the event tables. For other cells it is --at after the
// first window of the usage, or without --at the end of the usage. Returns InvalidArgument with the missing
// option if there is no usage, and Cancelled if the user interrupted the reading.
absl::StatusOr<CellUsage> LoadCellUsage(const CompactArgs& args, bool recorded, std::optional<int64_t> at_s);

// Returns the demands of each recommender and predictor, with a progress line. Returns the errors of
// ReplayCellDemands. REQUIRES: CheckDemandArgs was OK.
absl::StatusOr<CellDemands> DemandsOf(const CompactArgs& args, const CellUsage& usage,
                                      const brain::CellModel& cell);

// Returns lines with the rows that were read, and the rows' time.
std::string UsageText(const CellUsage& usage);
// Returns a table of the demands, and a line about jobs whose amounts do not change.
std::string DemandsText(const brain::CellModel& cell, const CellDemands& demands);
Json UsageJson(const CellUsage& usage);
Json DemandJson(const brain::CellModel& cell, const CellDemand& demand);

}  // namespace taut::tools
