// Cells made of what a trace recorded, and a cell as it was at one time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "brain/cell/cell_events.h"
#include "brain/cell/cell_model.h"
#include "brain/cell/recorded_events.h"
#include "brain/cell/recorded_machines.h"

namespace taut::brain {

struct TimedModel {
  CellModel model;
  CellWorkload workload;
  std::vector<CellFinding> findings;  // what was left out here, and what CheckCell found
};

// Machines with their first capacity, which fail, return and change as recorded; those that come later are down
// until then. A job asks for the most that one of its tasks asked for when it came; jobs in alloc sets are left
// out, since the alloc set has its place on the machine. A job of production, or an alloc set, is a service that
// lasts from its first start to its end; another job is work that runs for the mean of its tasks' runs. What did
// not end in the trace runs to the end; a job that ended without a start is stopped then.
// Errors as CheckCell. The workload is not checked yet.
absl::StatusOr<TimedModel> MakeRecordedCell(const std::vector<RecordedJob>& jobs,
                                            std::span<const JobSpan> spans, const RecordedMachines& machines);

// The jobs that are there at that time if each starts when it is submitted, with their limits, on the machines
// that are in service then, with their capacity. `workload` is as CheckCellWorkload leaves it.
CellModel CellAt(const CellModel& model, const CellWorkload& workload, int64_t time_ms);
// The time at which the jobs that are there ask for most of row 0 of the resources; 0 if there are none.
int64_t FullestTime(const CellModel& model, const CellWorkload& workload);

}  // namespace taut::brain
