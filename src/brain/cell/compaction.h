// Cell compaction: computes the smallest number of machines on which a workload fits (Verma et al., EuroSys
// 2015, section 5.1).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/cell/scheduler.h"

namespace taut::brain {

struct CompactionOptions {
  SchedulerOptions scheduler;
  uint32_t trials = 11;  // number of trials, in [1, 1000]
  // Share of tasks that may stay pending, in [0, 1). The number of these tasks is rounded down.
  double pending_share = 0.002;
  double percentile = 0.9;    // percentile of the trials' results, by nearest rank, in (0, 1]
  uint32_t most_copies = 64;  // size of the largest cell that is tried, in copies of the original cell
  uint64_t seed = 1;
};

// The number of machines that one workload needs, by trial.
struct CompactionResult {
  std::vector<uint32_t> trials;  // number of machines of each trial, in order of the seeds
  uint32_t min = 0, max = 0;
  uint32_t needed = 0;    // number of machines for the workload, the percentile of `trials`
  uint64_t tasks = 0;     // number of tasks of the workload
  uint64_t softened = 0;  // number of jobs whose constraints became preferences
};

// Returns the numbers of machines that the workload needs. Returns FailedPrecondition, with the pending tasks,
// if the workload does not fit on `most_copies` copies of the cell. Returns InvalidArgument if an option is out
// of range.
//
// A trial orders the machines at random, followed by further copies of the cell, each copy in its own random
// order. A candidate cell of n machines consists of the first n machines of this order. Machines are thus
// removed at random, and the cell is cloned if more machines are needed. The workload is packed from scratch on
// a candidate cell, and fits if at most pending_share of its tasks stay pending. Preemption is off, because
// packing from scratch places more important tasks first.
// The search over n is binary and assumes that a workload that fits on n machines also fits on n + 1. Packing is
// a heuristic, so that the search may miss a smaller cell that fits. The search has packed the resulting cell,
// and also the cell with one machine less, on which the workload did not fit.
//
// Constraints, spread and bounds per machine become preferences for large jobs. A job is large if it has more
// tasks than half the machines of the cell, or requests more than half of the cell's capacity of a resource.
//
// Costs about 2 * log2(machines) packings for each trial.
absl::StatusOr<CompactionResult> CompactCell(const CellModel& model, const CompactionOptions& options);

// Returns the InvalidArgument that CompactCell would return for these options, else OK.
absl::Status CheckCompaction(const CellModel& model, const CompactionOptions& options);

// Runs trial number `trial`, counted from 0, and returns the number of machines. The result does not depend on
// other trials, so that several threads may run trials. `index` must belong to a model after SoftenLargeJobs.
// Returns the FailedPrecondition of CompactCell. REQUIRES: CheckCompaction is OK.
absl::StatusOr<uint32_t> CompactionTrial(const CellIndex& index, const CompactionOptions& options,
                                         uint32_t trial);

// Returns the pending tasks and the reasons if the trial's cell has `machines` machines; "" if the workload
// fits.
std::string WhyNotFewer(const CellIndex& index, const CompactionOptions& options, uint32_t trial,
                        uint32_t machines);

// Placement of the tasks in a trial's cell.
struct TrialPacking {
  std::vector<uint32_t> machines;  // the model's machine at each position; a machine may appear several times
  std::vector<uint32_t> machine_of_task;  // position in `machines`, or kNowhere
};
// Packs the workload on the trial's cell of `machines` machines, like the search. The packing is incomplete if
// the workload does not fit.
TrialPacking PackTrial(const CellIndex& index, const CompactionOptions& options, uint32_t trial,
                       uint32_t machines);

// Sets min, max and needed from `result.trials`. REQUIRES: at least one trial.
void Summarize(double percentile, CompactionResult& result);

// Sets `soft` of the large jobs (see CompactCell). Returns the number of large jobs.
uint64_t SoftenLargeJobs(CellModel& model);

// Removes jobs whose tasks no empty machine could run, because the tasks are too large or no machine meets their
// required constraints. O(jobs * machines) in the worst case.
void RemoveImpossibleJobs(CellModel& model);

// Returns the value with rank ceil(share * n) among n > 0 values. Ranks count from 1 in ascending order.
uint32_t NearestRank(std::vector<uint32_t> values, double share);

}  // namespace taut::brain
