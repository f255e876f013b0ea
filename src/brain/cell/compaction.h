// Cell compaction: how few machines a workload needs (Verma et al., EuroSys 2015, section 5.1).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/cell/scheduler.h"

namespace taut::brain {

struct CompactionOptions {
  SchedulerOptions scheduler;
  uint32_t trials = 11;          // 1 to 1000
  double pending_share = 0.002;  // of the tasks, rounded down, may stay pending; [0, 1)
  double percentile = 0.9;       // of the trials, nearest rank; (0, 1]
  uint32_t most_copies = 64;     // a cell of more copies of the original is not tried
  uint64_t seed = 1;
};

// Machines that one workload needs, by trial.
struct CompactionResult {
  std::vector<uint32_t> trials;  // in order of the seeds
  uint32_t min = 0, max = 0;
  uint32_t needed = 0;    // the percentile
  uint64_t tasks = 0;     // of the workload
  uint64_t softened = 0;  // jobs whose constraints became preferences
};

// A workload that does not fit into `most_copies` copies of the cell gives FailedPrecondition, which says what
// is pending then; bad options InvalidArgument.
//
// A trial orders the machines at random, followed by further copies of the cell, each in an order of its own;
// the cell of n machines is the first n of that order: removing machines at random, or cloning the cell if
// more are needed. The workload is packed from scratch into a candidate cell, without preemption (from
// scratch, more important tasks are placed first anyway), and fits if at most pending_share of its tasks stay
// pending. The search over n is binary and assumes that what fits into n machines of an order fits into n + 1;
// packing is a heuristic, so that a smaller cell that fits may be missed. The result was packed, and so was
// one machine less, which did not fit.
//
// Constraints, spread and bounds per machine of jobs with more tasks than half the machines of the cell, or
// that ask for more than half of its capacity of a resource, become preferences.
//
// About 2 * log2(machines) packings a trial.
absl::StatusOr<CompactionResult> CompactCell(const CellModel& model, const CompactionOptions& options);

// InvalidArgument as CompactCell.
absl::Status CheckCompaction(const CellModel& model, const CompactionOptions& options);

// The `trial`-th of these trials, from 0, whatever others were run; trials may run at the same time. `index`
// is of a model after SoftenLargeJobs. FailedPrecondition as CompactCell. REQUIRES: CheckCompaction is OK.
absl::StatusOr<uint32_t> CompactionTrial(const CellIndex& index, const CompactionOptions& options,
                                         uint32_t trial);

// What is pending, and why, if the trial's cell has this many machines; "" if the workload fits.
std::string WhyNotFewer(const CellIndex& index, const CompactionOptions& options, uint32_t trial,
                        uint32_t machines);

// Where the tasks are in the trial's cell of that many machines.
struct TrialPacking {
  std::vector<uint32_t> machines;         // of the model, by place; one may come several times
  std::vector<uint32_t> machine_of_task;  // a place, or kNowhere
};
TrialPacking PackTrial(const CellIndex& index, const CompactionOptions& options, uint32_t trial,
                       uint32_t machines);

// Fills min, max and needed from trials, of which there is at least one.
void Summarize(double percentile, CompactionResult& result);

// Marks the jobs that the paragraph on constraints describes; returns their number.
uint64_t SoftenLargeJobs(CellModel& model);

// Removes the jobs of which no machine, empty, could run a task: too large, or their constraints are required
// and not met. O(jobs * machines) if there are many of them.
void RemoveImpossibleJobs(CellModel& model);

// The value of rank ceil(share * n) of n > 0 values.
uint32_t NearestRank(std::vector<uint32_t> values, double share);

}  // namespace taut::brain
