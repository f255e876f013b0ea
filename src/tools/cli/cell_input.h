// Cells that commands read or make, and what they say of them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "brain/cell/cell_events.h"
#include "brain/cell/cell_model.h"
#include "brain/cell/recorded_events.h"
#include "tools/cli/json_text.h"
#include "tools/trace/recorded_reader.h"
#include "tools/trace/trace_reader.h"

namespace taut::tools {

// A cell that was read, over time.
struct LoadedCell {
  brain::CellModel model;
  brain::CellWorkload workload;  // not checked
  ReadReport report;
  std::vector<brain::CellFinding> findings;
  bool has_events = false;  // recorded ones
  brain::EventFigures events;
  std::vector<RecordedCell::Shape> shapes;
  uint64_t machines_without_capacity = 0;
  absl::flat_hash_map<std::string, brain::ScalingMode> modes;  // by job; those that are known
  bool recorded = false;                                       // from the event tables of a trace
};
// From event tables of a trace if there are any among the paths, else from CSV files of a cell; with a progress
// line. Of the options: paths, format, units, strict. CSV files may be of machines alone unless `jobs_needed`.
absl::StatusOr<LoadedCell> LoadCellFiles(const TraceOptions& options, bool quiet, bool jobs_needed = true);

// The sums of limits and reservations of a resource over the capacity.
struct CellLoad {
  double limit = 0, production_limit = 0, reservation = 0;
};
CellLoad LoadOf(const brain::CellModel& cell, size_t resource);

// "read 11 rows of 2 files (356 B)", and below what was skipped with examples, and the warnings.
std::string ReadText(const ReadReport& report);
// A line for each cause and example of rows that were `what`.
std::string CausesText(std::string_view what, const std::map<std::string, ReadReport::Cause>& causes);
// A line for each.
std::string FindingsText(const std::vector<brain::CellFinding>& findings);
// A line for each sentence, the later ones indented more.
std::string SentenceLines(std::string_view text);

// The arrays "skipped_rows", "kept_rows" and "findings".
Json SkippedJson(const ReadReport& report);
Json KeptJson(const ReadReport& report);
Json FindingsJson(const std::vector<brain::CellFinding>& findings);

}  // namespace taut::tools
