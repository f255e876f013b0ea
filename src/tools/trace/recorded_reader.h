// Cells from the event tables of traces: Google 2019 and 2011, Alibaba 2018 (docs/reference/traces.md,
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

// What the files hold, told by their names and first lines.
struct TraceContents {
  bool usage = false;    // rows that ReadTrace reads
  bool events = false;   // tables that ReadRecordedCell reads, of jobs or of machines
  bool unknown = false;  // other files, such as those that ReadCell reads
};
// NotFound for a path that cannot be opened; files that match nothing are no error.
absl::StatusOr<TraceContents> LookInto(const TraceOptions& options);

struct RecordedCell {
  brain::TimedModel cell;
  brain::EventFigures figures;
  // Machines by what they have, the most frequent first; of each the first capacity known.
  struct Shape {
    double cpu_cores = 0, memory_bytes = 0;
    uint64_t machines = 0;
  };
  std::vector<Shape> shapes;
  uint64_t machines_without_capacity = 0;
  absl::flat_hash_map<std::string, brain::ScalingMode> modes;  // by job; those that are known
};

// Reads the tables of events and machines among the files; others are named in a warning. Of the options: paths,
// format, units, strict. Rows that are wrong are skipped and counted, those that cannot be right kept and counted,
// each with file and line. In bounded memory but for what EventFold and RecordedMachines keep.
// InvalidArgument if there is no such table, or tables of two formats.
absl::StatusOr<RecordedCell> ReadRecordedCell(const TraceOptions& options, ReadReport& report,
                                              const ReadProgress& progress = nullptr);

// Shapes of the machines of a cell that was read otherwise.
std::vector<RecordedCell::Shape> ShapesOf(const brain::CellModel& model);

}  // namespace taut::tools
