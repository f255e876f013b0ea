// Reads the usage of a cell's tasks for `taut compact`, and replays recommenders and predictors over this usage.
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
  WindowId until;  // time of the cell; only windows before `until` are used
};

// Returns true if the arguments name a recommender or a predictor.
bool AsksForDemands(const CompactArgs& args);
// Returns InvalidArgument if options about usage, recommenders and predictors contradict each other.
absl::Status CheckDemandArgs(const CompactArgs& args);
// Returns --at in seconds. REQUIRES: --at is not empty.
absl::StatusOr<int64_t> SecondsOfAt(const CompactArgs& args);

// Reads the usage of a cell from the files of --usage. A cell of event tables may instead have tables of usage
// among its paths. `at_s` is the time of the event tables. A cell without times uses --at after the first window
// of the usage, or the end of the usage if --at is empty. Returns InvalidArgument with the missing option if there
// is no usage, and Cancelled after an interrupt.
absl::StatusOr<CellUsage> LoadCellUsage(const CompactArgs& args, bool recorded, std::optional<int64_t> at_s);

// Computes the demands of each recommender and predictor, and shows a progress line. Returns errors of
// ReplayCellDemands(). REQUIRES: CheckDemandArgs() returns OK.
absl::StatusOr<CellDemands> DemandsOf(const CompactArgs& args, const CellUsage& usage,
                                      const brain::CellModel& cell);

// Returns lines about the rows that were read, and the time that they cover.
std::string UsageText(const CellUsage& usage);
// Returns a table of the demands, and lines about jobs that keep the owner's amounts.
std::string DemandsText(const brain::CellModel& cell, const CellDemands& demands);
Json UsageJson(const CellUsage& usage);
Json DemandJson(const brain::CellModel& cell, const CellDemand& demand);

}  // namespace taut::tools
