// Reads cells from event tables of traces: Google 2019 and 2011, Alibaba 2018 (docs/reference/traces.md, "Recorded
// cells").
#pragma once

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "brain/cell/recorded_cell.h"
#include "brain/cell/recorded_events.h"
#include "tools/trace/trace_reader.h"

namespace taut::tools {

// Kinds of contents of some files, according to their names and first lines.
struct TraceContents {
  bool usage = false;    // true if there are rows for ReadTrace()
  bool events = false;   // true if there are tables of jobs or machines for ReadRecordedCell()
  bool unknown = false;  // true if there are other files, such as input for ReadCell()
};
// Detects the contents of the files. Returns NotFound for a path that cannot be opened. Unknown files are not an
// error. Does not read pipes, for which it reports both usage and other content.
absl::StatusOr<TraceContents> LookInto(const TraceOptions& options);

struct RecordedCell {
  brain::TimedModel cell;
  brain::EventFigures figures;
  // Number of machines per capacity, most frequent capacity first. Each machine counts under its first known
  // capacity.
  struct Shape {
    double cpu_cores = 0, memory_bytes = 0;
    uint64_t machines = 0;
  };
  std::vector<Shape> shapes;
  uint64_t machines_without_capacity = 0;
  // Modes of vertical scaling by job; jobs with an unknown mode are absent.
  absl::flat_hash_map<std::string, brain::ScalingMode> modes;
};

// Reads the tables of events and machines among the files, and adds a warning about other files. Uses only the
// options paths, format, units and strict. Invalid rows are skipped and counted. Contradictory rows are used and
// counted. The report contains examples of both, with file and line. Memory is bounded, except for EventFold and
// RecordedMachines. Returns InvalidArgument if there is no table of events or machines, or if the tables have
// different formats.
absl::StatusOr<RecordedCell> ReadRecordedCell(const TraceOptions& options, ReadReport& report,
                                              const ReadProgress& progress = nullptr);

// Returns the shapes of a cell's machines, for cells from other readers.
std::vector<RecordedCell::Shape> ShapesOf(const brain::CellModel& model);

}  // namespace taut::tools
