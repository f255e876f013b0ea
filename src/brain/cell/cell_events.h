// The workload of a cell over time as events: jobs start and end, machines fail, are drained and return, limits
// and capacities change. Times are milliseconds since the start of the simulation.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/cell/cell_model.h"

namespace taut::brain {

inline constexpr int64_t kNoEnd = INT64_MAX;
inline constexpr int64_t kMaxCellTime = int64_t{1} << 42;  // bound on times in milliseconds, about 139 years

enum class CellJobKind : uint8_t {
  kWork,     // a task ends after it has run for run_ms without interruption; an evicted task starts again
  kService,  // the job ends run_ms after its first task has started; an eviction only interrupts a task
};

// Run time of a job, or of each task of the job.
struct CellJobRun {
  int64_t run_ms = kNoEnd;  // run time in milliseconds, > 0; kNoEnd: until the end
  CellJobKind kind = CellJobKind::kWork;
};

enum class CellEventKind : uint8_t {
  kSubmit,    // a job is submitted
  kStop,      // a job ends at once, with all its tasks
  kLimit,     // a job's limit changes; a reservation above the new limit is lowered to the limit
  kDrain,     // a machine accepts no more tasks, and its tasks are evicted step by step
  kFail,      // a machine goes down and loses its tasks
  kReturn,    // a machine accepts tasks again
  kCapacity,  // a machine's capacity changes
};
std::string_view Name(CellEventKind kind);  // returns, for example, "submit"

// One event of the workload.
struct CellEvent {
  int64_t time_ms = 0;
  CellEventKind kind = CellEventKind::kSubmit;
  uint32_t id = 0;       // row of the job or of the machine in the model
  uint32_t amounts = 0;  // row of CellWorkload::amounts, only for kLimit and kCapacity
};

// The run times of a model's jobs, and all events. CheckCellWorkload sorts the events by time.
struct CellWorkload {
  std::vector<CellJobRun> runs;  // run times, one row for each job of the model
  std::vector<CellEvent> events;
  std::vector<CellAmounts> amounts;

  // Appends `event` with a new row of amounts `with`.
  void Add(CellEvent event, const CellAmounts& with);
};

// Checks a workload and sorts its events by time; events of equal time keep their order. Returns one finding for
// each cause.
// Removes
// - repeated submissions of a job,
// - stops and limit changes of a job that is not submitted or has ended,
// - failures of a machine that is down, drains of a machine out of service, returns of a machine in service,
// - amounts that are all 0.
// Keeps events that are out of order in time, limits larger than any machine, and jobs that no event submits;
// returns a finding for each of these causes, too. Returns InvalidArgument if
// - `runs` does not have one row for each job, or a run time is not > 0,
// - a time is outside [0, kMaxCellTime],
// - a row of a job, machine or amounts does not exist, or CheckAmounts rejects an amount.
absl::StatusOr<std::vector<CellFinding>> CheckCellWorkload(const CellModel& model, CellWorkload& workload);

}  // namespace taut::brain
