// Cells from CSV: files of machines, jobs and events (docs/reference/traces.md, "Cells").
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/cell/cell_events.h"
#include "brain/cell/cell_model.h"
#include "brain/cell/recorded_events.h"
#include "tools/trace/trace_reader.h"

namespace taut::tools {

struct CellReadOptions {
  std::vector<std::string> paths;  // files, directories, archives, as of a trace; in any order
  bool strict = false;             // the first bad row is an error
  bool jobs_needed = true;         // no usable job is an error
};

struct CellInput {
  brain::CellModel model;                    // CheckCell accepted it
  std::vector<brain::CellFinding> findings;  // what CheckCell found
  // What happens to the cell over time; a job whose file says nothing of its time comes at 0, unless an event
  // submits it. Not checked yet: CheckCellWorkload (its findings are for who simulates).
  brain::CellWorkload workload;
  // What the pods of Alibaba's GPU trace of 2023 say of their creation, start and end, if there are any.
  bool has_events = false;
  brain::EventFigures events;
};

// Reads each file as what its first line says: machines, jobs or events in the columns of
// docs/reference/traces.md, or the node and pod tables of Alibaba's GPU trace of 2023, each pod a job of one
// task. The resources are CPU and memory, and GPUs if any file has a column of them. Rows that cannot be used
// are counted by cause. Not OK if a file's columns are not known, there is no usable machine or needed job
// or, with strict, at the first bad row; the report is filled either way.
absl::StatusOr<CellInput> ReadCell(const CellReadOptions& options, ReadReport& report);

}  // namespace taut::tools
