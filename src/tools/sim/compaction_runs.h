// Runs the compaction of a cell under several experiments, with the trials in parallel.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/cell/cell_experiments.h"
#include "brain/cell/compaction.h"

namespace taut::tools {

struct CompactionRunsOptions {
  // Experiments to run; "base" runs first even if it is not listed
  std::vector<const brain::CellExperiment*> experiments;
  brain::CellExperimentOptions variant;
  // Options of every run. The scoring of `variant` overrides the scoring of the scheduler options.
  brain::CompactionOptions compaction;
  int threads = 0;  // number of threads; 0: one per core
};

struct CompactionRun {
  const brain::CellExperiment* experiment = nullptr;
  std::string not_run;    // reason why there is no result; empty if `result` is valid
  uint32_t cells = 0;     // number of parts into which the experiment divides the cell
  uint64_t left_out = 0;  // number of jobs that the experiment omits
  // Number of jobs whose requests were cut to the largest machine (cell_experiments.h)
  uint64_t cut_to_machine = 0;
  brain::CompactionResult result;  // numbers of machines are sums over the parts
};

struct CompactionRunsHooks {
  // Reports the running experiment, and the finished share of all experiments in [0, 1]. Called from any thread,
  // one call at a time.
  std::function<void(std::string_view what, double share)> on_progress;
  // Receives the packing of each trial once, ordered by part and trial, from one thread. Costs one more packing
  // per trial.
  std::function<void(const CompactionRun& run, const brain::CellModel& part, uint32_t trial,
                     brain::TrialPacking packing)>
      on_packing;
  // Called before each trial, from any thread; true ends the run.
  std::function<bool()> should_stop;
};

// Result of packing the unchanged cell once.
struct PackedCell {
  uint64_t pending = 0;  // number of tasks that did not fit
  std::string why;       // reason why the first pending job is pending; empty if no task is pending
};

struct CompactionRuns {
  PackedCell packed;  // result for all jobs on all machines
  // Numbers of omitted jobs and their tasks: no machine of the cell can run a task of these jobs.
  uint64_t impossible_jobs = 0, impossible_tasks = 0;
  uint64_t softened = 0;            // number of jobs whose constraints became preferences (compaction.h)
  std::vector<CompactionRun> runs;  // runs, one per experiment, "base" first
  // Reason why the base does not fit if one more machine is removed, in the trial that determines the result; may
  // be empty.
  std::string one_less;
  bool partial = false;  // true if should_stop ended the run: unfinished experiments are missing
};

// Runs the base, then the experiments. Returns errors of CompactCell() for the base. The message of a
// FailedPrecondition of another experiment becomes its `not_run`. The result does not depend on the number of
// threads. The experiments must outlive the result.
absl::StatusOr<CompactionRuns> RunCompactions(const brain::CellModel& cell,
                                              const CompactionRunsOptions& options,
                                              const CompactionRunsHooks& hooks = {});

}  // namespace taut::tools
