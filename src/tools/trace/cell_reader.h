// Reads cells from CSV files of machines, jobs and events (docs/reference/traces.md, "Cells").
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
  std::vector<std::string> paths;  // files, directories and archives, as for a trace; in any order
  bool strict = false;             // the first bad row is an error
  bool jobs_needed = true;         // a cell without a usable job is an error
};

struct CellInput {
  brain::CellModel model;                    // a model that CheckCell accepted
  std::vector<brain::CellFinding> findings;  // findings of CheckCell
  // Events of the cell over time. A job without times in its file is submitted at 0, unless an event submits
  // the job. The events are not checked: a caller that simulates them must call CheckCellWorkload.
  brain::CellWorkload workload;
  // Created, started and ended events of the pods of Alibaba's GPU trace of 2023, if has_events is true.
  bool has_events = false;
  brain::EventFigures events;
};

// Reads each file as the file's first line defines: machines, jobs or events in the columns of
// docs/reference/traces.md, or the node and pod tables of Alibaba's GPU trace of 2023, where each pod is a
// job of one task. The resources are CPU and memory, and GPUs if any file has a GPU column. Rows that cannot
// be used are counted by cause.
//
// Returns an error for a file with unknown columns, and if no machine, or no required job, is usable. With
// strict, returns an error for the first bad row. The report is filled in either case.
absl::StatusOr<CellInput> ReadCell(const CellReadOptions& options, ReadReport& report);

}  // namespace taut::tools
