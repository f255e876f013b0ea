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
  double pending_share = 0.002;  // share of the tasks, rounded down, that may stay pending; [0, 1)
  double percentile = 0.9;       // of the trials, by nearest rank; (0, 1]
  uint32_t most_copies = 64;     // largest cell that is tried, in copies of the original
  uint64_t seed = 1;
};

// Number of machines that one workload needs, by trial.
struct CompactionResult {
  std::vector<uint32_t> trials;  // in order of the seeds
  uint32_t min = 0, max = 0;
  uint32_t needed = 0;    // the chosen percentile of `trials`
  uint64_t tasks = 0;     // of the workload
  uint64_t softened = 0;  // jobs whose constraints became preferences
};

// Returns FailedPrecondition, which says what is pending, if a workload does not fit into `most_copies`
// copies of the cell; InvalidArgument if an option is out of range.
//
// A trial orders the machines at random, followed by further copies of the cell, each in an order of its own.
// The cell of n machines is the first n of that order: it removes machines at random, or clones the cell if
// more are needed. The workload is packed from scratch into a candidate cell. It fits if at most
// pending_share of its tasks stay pending. Preemption is off, since packing from scratch places more
// important tasks first anyway.
// The search over n is binary and assumes that a workload that fits into n machines also fits into n + 1.
// Packing is a heuristic, so a smaller cell that fits may be missed. The result itself was packed, and a cell
// of one machine less was packed and did not fit.
//
// Constraints, spread and bounds per machine become preferences for jobs with more tasks than half the
// machines of the cell, or that request more than half of its capacity of a resource.
//
// Costs about 2 * log2(machines) packings a trial.
absl::StatusOr<CompactionResult> CompactCell(const CellModel& model, const CompactionOptions& options);

// Returns the InvalidArgument that CompactCell would return.
absl::Status CheckCompaction(const CellModel& model, const CompactionOptions& options);

// Runs the trial of this number, from 0; the result does not depend on other trials, and trials may run on
// several threads. `index` is of a model after SoftenLargeJobs. Returns FailedPrecondition as CompactCell
// does. REQUIRES: CheckCompaction is OK.
absl::StatusOr<uint32_t> CompactionTrial(const CellIndex& index, const CompactionOptions& options,
                                         uint32_t trial);

// Says which tasks are pending, and why, if the trial's cell has this many machines; "" if the workload fits.
std::string WhyNotFewer(const CellIndex& index, const CompactionOptions& options, uint32_t trial,
                        uint32_t machines);

// Placement of the tasks in the trial's cell of this many machines.
struct TrialPacking {
  std::vector<uint32_t> machines;         // machine of the model, by place; one may appear several times
  std::vector<uint32_t> machine_of_task;  // a place in `machines`, or kNowhere
};
// Packs the trial's cell of this many machines as the search does. If the workload does not fit, the packing is
// incomplete.
TrialPacking PackTrial(const CellIndex& index, const CompactionOptions& options, uint32_t trial,
                       uint32_t machines);

// Fills min, max and needed from trials. REQUIRES: at least one trial.
void Summarize(double percentile, CompactionResult& result);

// Sets `soft` for the large jobs (see CompactCell); returns their number.
uint64_t SoftenLargeJobs(CellModel& model);

// Removes the jobs whose tasks no empty machine could run: they are too large, or required constraints are
// not met. O(jobs * machines) in the worst case.
void RemoveImpossibleJobs(CellModel& model);

// Returns the value of rank ceil(share * n) among n > 0 values.
uint32_t NearestRank(std::vector<uint32_t> values, double share);

}  // namespace taut::brain
