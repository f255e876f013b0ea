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
  std::vector<std::string> paths;  // files, directories and archives, as of a trace; in any order
  bool strict = false;             // the first bad row is an error
  bool jobs_needed = true;         // a cell without a usable job is an error
};

struct CellInput {
  brain::CellModel model;                    // CheckCell accepted it
  std::vector<brain::CellFinding> findings;  // findings of CheckCell
  // Events of the cell over time. A job without times in its file is submitted at 0, unless an event submits
  // it. Not checked: who simulates calls CheckCellWorkload.
  brain::CellWorkload workload;
  // Events of the pods of Alibaba's GPU trace of 2023 (created, started, ended), if has_events.
  bool has_events = false;
  brain::EventFigures events;
};

// Reads each file as its first line defines: machines, jobs or events in the columns of
// docs/reference/traces.md, or the node and pod tables of Alibaba's GPU trace of 2023, where each pod is a job
// of one task. The resources are CPU and memory, and GPUs if any file has a column for them. Rows that cannot
// be used are counted by cause.
//
// Returns an error for a file with unknown columns, without a usable machine or needed job, and, with strict,
// for the first bad row. The report is filled in either case.
absl::StatusOr<CellInput> ReadCell(const CellReadOptions& options, ReadReport& report);

}  // namespace taut::tools
