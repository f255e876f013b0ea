// Runs the compaction of a cell under several experiments, with trials in parallel.
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
  std::vector<const brain::CellExperiment*> experiments;  // "base" is run first even if it is not listed
  brain::CellExperimentOptions variant;
  // The scoring of `variant` replaces the scoring of `compaction`'s scheduler.
  brain::CompactionOptions compaction;
  int threads = 0;  // 0: one per core
};

struct CompactionRun {
  const brain::CellExperiment* experiment = nullptr;
  std::string not_run;             // reason why the experiment has no result; empty if `result` is valid
  uint32_t cells = 0;              // number of cells that the cell was divided into
  uint64_t left_out = 0;           // jobs left out by the experiment
  uint64_t cut_to_machine = 0;     // jobs whose requests were cut to the largest machine (cell_experiments.h)
  brain::CompactionResult result;  // a trial's number of machines is the sum over the cells
};

struct CompactionRunsHooks {
  // Reports the current experiment and the completed share of all experiments, in [0, 1]. Called from any
  // thread, but never by two threads at once.
  std::function<void(std::string_view what, double share)> on_progress;
  // Reports the packing of each trial once, ordered by part, then trial. Called from one thread. The hook
  // costs one more packing per trial.
  std::function<void(const CompactionRun& run, const brain::CellModel& part, uint32_t trial,
                     brain::TrialPacking packing)>
      on_packing;
  // Called before each trial, from any thread; true ends the run.
  std::function<bool()> should_stop;
};

// Result of packing the unchanged cell once.
struct PackedCell {
  uint64_t pending = 0;  // tasks that did not fit
  std::string why;       // reason why the first pending job is pending; empty if no task is pending
};

struct CompactionRuns {
  PackedCell packed;  // all jobs, on all machines
  // Jobs and tasks left out of the runs, because no machine of the cell could run one of their tasks.
  uint64_t impossible_jobs = 0, impossible_tasks = 0;
  uint64_t softened = 0;            // jobs whose constraints became preferences (compaction.h)
  std::vector<CompactionRun> runs;  // one run per experiment, "base" first
  // Reason why the base needs its last machine, in the trial whose number of machines is the result; may be
  // empty.
  std::string one_less;
  bool partial = false;  // should_stop returned true; unfinished experiments are missing
};

// Runs the base, then the experiments. Returns the errors of CompactCell for the base. If another experiment
// fails with FailedPrecondition, its message becomes the experiment's `not_run`. The result does not depend
// on the number of threads. The experiments must outlive the result.
absl::StatusOr<CompactionRuns> RunCompactions(const brain::CellModel& cell,
                                              const CompactionRunsOptions& options,
                                              const CompactionRunsHooks& hooks = {});

}  // namespace taut::tools
