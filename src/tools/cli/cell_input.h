// Reads cells for commands, and formats reports about the read rows and the findings.
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

// A cell, and its events over time if the files contain events.
struct LoadedCell {
  brain::CellModel model;
  brain::CellWorkload workload;  // events that CheckCellWorkload() has not checked
  ReadReport report;
  std::vector<brain::CellFinding> findings;
  bool has_events = false;  // true if `events` contains recorded events
  brain::EventFigures events;
  std::vector<RecordedCell::Shape> shapes;
  uint64_t machines_without_capacity = 0;
  // Modes of vertical scaling by job; jobs with an unknown mode are absent.
  absl::flat_hash_map<std::string, brain::ScalingMode> modes;
  bool recorded = false;  // true if the cell was read from event tables of a trace
};
// Reads a cell from the trace's event tables if `options.paths` contain such tables, else from CSV files of a
// cell. Shows a progress line unless `quiet`. Uses only the options paths, format, units and strict. With
// `jobs_needed` false, CSV files may contain machines only. Returns errors of ReadRecordedCell() and ReadCell().
absl::StatusOr<LoadedCell> LoadCellFiles(const TraceOptions& options, bool quiet, bool jobs_needed = true);

// Sums of limits and reservations of a resource, as shares of the capacity.
struct CellLoad {
  double limit = 0, production_limit = 0, reservation = 0;
};
CellLoad LoadOf(const brain::CellModel& cell, size_t resource);

// Returns text such as "read 11 rows of 2 files (356 B)", followed by lines about skipped rows and kept rows with
// examples, and the warnings.
std::string ReadText(const ReadReport& report);
// Returns one line per cause and one line per example of the cause. `what` is "skipped" or "kept".
std::string CausesText(std::string_view what, const std::map<std::string, ReadReport::Cause>& causes);
// Returns a line per finding.
std::string FindingsText(const std::vector<brain::CellFinding>& findings);
// Returns one line per sentence. Lines after the first have a deeper indentation.
std::string SentenceLines(std::string_view text);

// Return the arrays "skipped_rows", "kept_rows" and "findings".
Json SkippedJson(const ReadReport& report);
Json KeptJson(const ReadReport& report);
Json FindingsJson(const std::vector<brain::CellFinding>& findings);

}  // namespace taut::tools
