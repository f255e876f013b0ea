// Reads cells from the event tables of traces: Google 2019 and 2011, Alibaba 2018 (docs/reference/traces.md,
// "Recorded cells").
#pragma once

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "brain/cell/recorded_cell.h"
#include "brain/cell/recorded_events.h"
#include "tools/trace/trace_reader.h"

namespace taut::tools {

// Contents of files, detected by their names and first lines.
struct TraceContents {
  bool usage = false;    // rows that ReadTrace reads
  bool events = false;   // tables of jobs or machines that ReadRecordedCell reads
  bool unknown = false;  // files of another kind, such as input of ReadCell
};
// Detects the contents of the files. Returns NotFound for a path that cannot be opened; unknown files are not
// an error. Pipes are not read: both usage and other content are then possible.
absl::StatusOr<TraceContents> LookInto(const TraceOptions& options);

struct RecordedCell {
  brain::TimedModel cell;
  brain::EventFigures figures;
  // Number of machines by capacity, the most frequent capacity first. A machine is counted under its first
  // known capacity.
  struct Shape {
    double cpu_cores = 0, memory_bytes = 0;
    uint64_t machines = 0;
  };
  std::vector<Shape> shapes;
  uint64_t machines_without_capacity = 0;
  // Modes of vertical scaling by job; only known modes.
  absl::flat_hash_map<std::string, brain::ScalingMode> modes;
};

// Reads the tables of events and machines among the files. Files with other content are listed in a warning.
// Only the options paths, format, units and strict are used. Invalid rows are skipped and counted,
// contradictory rows are kept and counted, each with file and line. Memory is bounded, except for EventFold
// and RecordedMachines. Returns InvalidArgument if no file is a table of events or machines, or if the tables
// have two formats.
absl::StatusOr<RecordedCell> ReadRecordedCell(const TraceOptions& options, ReadReport& report,
                                              const ReadProgress& progress = nullptr);

// Returns the shapes of a cell's machines, for a cell that another reader read.
std::vector<RecordedCell::Shape> ShapesOf(const brain::CellModel& model);

}  // namespace taut::tools
