// Cell compaction: the smallest number of machines that a workload fits into (Verma et al., EuroSys 2015,
// section 5.1).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/cell/scheduler.h"

namespace taut::brain {

struct CompactionOptions {
  SchedulerOptions scheduler;
  uint32_t trials = 11;          // in [1, 1000]
  double pending_share = 0.002;  // share of tasks, rounded down, that may stay pending; [0, 1)
  double percentile = 0.9;       // percentile of the trials, by nearest rank; (0, 1]
  uint32_t most_copies = 64;     // largest cell that is tried, in copies of the original
  uint64_t seed = 1;
};

// Number of machines into which one workload fits, by trial.
struct CompactionResult {
  std::vector<uint32_t> trials;  // machines of each trial, in order of the seeds
  uint32_t min = 0, max = 0;
  uint32_t needed = 0;    // the chosen percentile of `trials`
  uint64_t tasks = 0;     // tasks of the workload
  uint64_t softened = 0;  // jobs whose constraints became preferences
};

// Returns the numbers of machines into which the workload fits; FailedPrecondition, with the pending tasks, if the
// workload does not fit into `most_copies` copies of the cell; InvalidArgument if an option is out of range.
//
// A trial orders the machines at random, followed by further copies of the cell, each copy in its own random
// order. The cell of n machines is the first n machines of this order: machines are removed at random, or the cell
// is cloned if more are needed. The workload is packed from scratch into a candidate cell. The workload fits if at
// most pending_share of its tasks stay pending. Preemption is off, since packing from scratch places more
// important tasks first anyway.
// The search over n is binary and assumes that a workload that fits into n machines also fits into n + 1. Packing
// is a heuristic, so the search may miss a smaller cell that fits. The search has packed the resulting cell, and
// also the cell of one machine less, which did not fit.
//
// Constraints, spread and bounds per machine become preferences for jobs with more tasks than half the machines of
// the cell, and for jobs that request more than half of the cell's capacity of a resource.
//
// Costs about 2 * log2(machines) packings for each trial.
absl::StatusOr<CompactionResult> CompactCell(const CellModel& model, const CompactionOptions& options);

// Returns the InvalidArgument that CompactCell would return for the options.
absl::Status CheckCompaction(const CellModel& model, const CompactionOptions& options);

// Runs the trial of this number, from 0; the result does not depend on other trials, and trials may run on
// several threads. `index` is of a model after SoftenLargeJobs. Returns FailedPrecondition as CompactCell
// does. REQUIRES: CheckCompaction is OK.
absl::StatusOr<uint32_t> CompactionTrial(const CellIndex& index, const CompactionOptions& options,
                                         uint32_t trial);

// Returns which tasks are pending, and why, if the trial's cell has `machines` machines; "" if the workload fits.
std::string WhyNotFewer(const CellIndex& index, const CompactionOptions& options, uint32_t trial,
                        uint32_t machines);

// Placement of the tasks in a trial's cell.
struct TrialPacking {
  std::vector<uint32_t> machines;  // machine of the model, by place; a machine may appear several times
  std::vector<uint32_t> machine_of_task;  // a place in `machines`, or kNowhere
};
// Packs the trial's cell of `machines` machines as the search does. If the workload does not fit, the packing is
// incomplete.
TrialPacking PackTrial(const CellIndex& index, const CompactionOptions& options, uint32_t trial,
                       uint32_t machines);

// Fills min, max and needed from trials. REQUIRES: at least one trial.
void Summarize(double percentile, CompactionResult& result);

// Sets `soft` for the large jobs (see CompactCell); returns the number of large jobs.
uint64_t SoftenLargeJobs(CellModel& model);

// Removes the jobs whose tasks no empty machine could run because the tasks are too large or no machine meets
// their required constraints. O(jobs * machines) in the worst case.
void RemoveImpossibleJobs(CellModel& model);

// Returns the value of rank ceil(share * n), from 1 in ascending order, among n > 0 values.
uint32_t NearestRank(std::vector<uint32_t> values, double share);

}  // namespace taut::brain
