// Builds cells from a recorded trace, and a snapshot of a cell at one time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "brain/cell/cell_events.h"
#include "brain/cell/cell_model.h"
#include "brain/cell/recorded_events.h"
#include "brain/cell/recorded_machines.h"

namespace taut::brain {

// A cell with its workload over time.
struct TimedModel {
  CellModel model;
  CellWorkload workload;
  // Findings about rows that MakeRecordedCell removed, then CheckCell's findings.
  std::vector<CellFinding> findings;
};

// Builds a cell that replays a trace. Machines have their first capacity and fail, return and change as
// recorded. A machine that appears later in the trace is down until its first event.
// A job's limit is the largest request of its tasks at submission. Jobs inside alloc sets are removed, because
// the alloc set already reserves the capacity. A production job or an alloc set is a service from its first
// start to its end. Any other job is work that runs for the mean of its tasks' runs. A job that does not end in
// the trace runs to the trace's end. A job that ended without a start is stopped at the time of its end.
// `spans` has one row for each of `jobs`. Returns the errors of CheckCell. The caller must call
// CheckCellWorkload.
absl::StatusOr<TimedModel> MakeRecordedCell(const std::vector<RecordedJob>& jobs,
                                            std::span<const JobSpan> spans, const RecordedMachines& machines);

// Returns the cell at time_ms: the machines in service with their capacity, and the present jobs with their
// limits. Assumes that each job starts when it is submitted. REQUIRES: CheckCellWorkload accepted `workload`.
// O(events + jobs + machines).
CellModel CellAt(const CellModel& model, const CellWorkload& workload, int64_t time_ms);
// Returns the first time at which the sum of the CPU limits of the present jobs is highest; 0 without jobs.
int64_t FullestTime(const CellModel& model, const CellWorkload& workload);

}  // namespace taut::brain
