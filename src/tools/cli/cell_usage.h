// The usage of a cell's tasks, for `taut compact`: what recommenders and predictors make of it.
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
  WindowId until;  // the time of the cell: windows before it count
};

// Whether a recommender or a predictor is asked for.
bool AsksForDemands(const CompactArgs& args);
// InvalidArgument for arguments of usage, recommenders and predictors that make no sense.
absl::Status CheckDemandArgs(const CompactArgs& args);
// --at in seconds. REQUIRES: there is one.
absl::StatusOr<int64_t> SecondsOfAt(const CompactArgs& args);

// Reads the usage of a cell: --usage, or of a cell of event tables the tables of usage among the paths. Its time
// is that of the event tables, `at_s`; of other cells --at after the first window of the usage, without it the
// end of the usage. InvalidArgument says what to add if there is no usage; Cancelled if it was interrupted.
absl::StatusOr<CellUsage> LoadCellUsage(const CompactArgs& args, bool recorded, std::optional<int64_t> at_s);

// What each asks for, with a progress line. Errors as ReplayCellDemands. REQUIRES: CheckDemandArgs was OK.
absl::StatusOr<CellDemands> DemandsOf(const CompactArgs& args, const CellUsage& usage,
                                      const brain::CellModel& cell);

// What was read, and of which time it is: lines.
std::string UsageText(const CellUsage& usage);
// A table of what the tasks ask for, and a line for jobs that keep what they have.
std::string DemandsText(const brain::CellModel& cell, const CellDemands& demands);
Json UsageJson(const CellUsage& usage);
Json DemandJson(const brain::CellModel& cell, const CellDemand& demand);

}  // namespace taut::tools
