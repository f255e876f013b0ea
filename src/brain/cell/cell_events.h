// What happens to a cell over time, as data: jobs come and end, machines fail, are drained and return, limits and
// capacities change. Times are milliseconds since the beginning of the simulation.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/cell/cell_model.h"

namespace taut::brain {

inline constexpr int64_t kNoEnd = INT64_MAX;
inline constexpr int64_t kMaxCellTime = int64_t{1} << 42;  // 139 years

enum class CellJobKind : uint8_t {
  kWork,     // a task ends once it has run for run_ms without a break; evicted, it starts over
  kService,  // the job ends run_ms after its first task started; an eviction is a break only
};

struct CellJobRun {
  int64_t run_ms = kNoEnd;  // > 0
  CellJobKind kind = CellJobKind::kWork;
};

enum class CellEventKind : uint8_t {
  kSubmit,    // a job comes
  kStop,      // a job ends, whatever it has done
  kLimit,     // a job's limit changes; its reservation does if it would be larger
  kDrain,     // a machine takes no more tasks, and those that are there leave
  kFail,      // a machine is down, and its tasks are lost
  kReturn,    // a machine takes tasks again
  kCapacity,  // a machine's capacity changes
};
std::string_view Name(CellEventKind kind);  // "submit"

struct CellEvent {
  int64_t time_ms = 0;
  CellEventKind kind = CellEventKind::kSubmit;
  uint32_t id = 0;       // of the job or the machine: its row of the model
  uint32_t amounts = 0;  // kLimit, kCapacity: a row of CellWorkload::amounts
};

struct CellWorkload {
  std::vector<CellJobRun> runs;  // by job of the model
  std::vector<CellEvent> events;
  std::vector<CellAmounts> amounts;

  // Appends an event with amounts.
  void Add(CellEvent event, const CellAmounts& with);
};

// Checks what was read, and puts events in order of time; those of one time stay as they are. Left out, each cause
// one finding: submissions of what was submitted, ends and limits of jobs that were not submitted before, failures
// and drains of machines that are down, drains of machines that are drained, returns of machines in service,
// capacities of nothing, limits of nothing. Kept, but counted: events that stood behind a later one, limits that
// fit into no machine, jobs that no event submits.
// InvalidArgument: the number of runs is not that of jobs, a run is not > 0, a time is outside [0, kMaxCellTime],
// a job, machine or row of amounts is not there, amounts as of CheckCell.
absl::StatusOr<std::vector<CellFinding>> CheckCellWorkload(const CellModel& model, CellWorkload& workload);

}  // namespace taut::brain
