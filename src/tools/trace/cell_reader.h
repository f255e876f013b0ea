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
  std::vector<std::string> paths;  // files, directories and archives in any order
  bool strict = false;             // true: the first invalid row is an error
  bool jobs_needed = true;         // true: a cell without a usable job is an error
};

struct CellInput {
  brain::CellModel model;                    // model that CheckCell() accepted
  std::vector<brain::CellFinding> findings;  // findings of CheckCell()
  // Events of the cell over time. A job without times is submitted at 0, unless an event submits the job. Not
  // checked: a caller that simulates the events must call CheckCellWorkload().
  brain::CellWorkload workload;
  // True if `events` contains the creations, starts and ends of the pods in Alibaba's GPU trace of 2023.
  bool has_events = false;
  brain::EventFigures events;
};

// Reads each file in the format that its first line indicates. The formats are machines, jobs and events
// (docs/reference/traces.md), and the nodes and pods of Alibaba's GPU trace of 2023, where each pod is a job with
// one task. The resources are CPU and memory, and GPUs if any file has a GPU column. Rows that cannot be used are
// counted by reason.
//
// Returns an error for a file with unknown columns, if no machine is usable, and if no job is usable although jobs
// are needed. With `strict`, also returns an error for the first invalid row. `report` is complete even after an
// error.
absl::StatusOr<CellInput> ReadCell(const CellReadOptions& options, ReadReport& report);

}  // namespace taut::tools
