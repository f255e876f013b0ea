// Compaction of a cell under several experiments, trials side by side.
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
  std::vector<const brain::CellExperiment*> experiments;  // "base" is run first in any case
  brain::CellExperimentOptions variant;
  brain::CompactionOptions compaction;  // its scheduler's scoring is the variant's
  int threads = 0;                      // 0: one a core
};

struct CompactionRun {
  const brain::CellExperiment* experiment = nullptr;
  std::string not_run;             // why there is no result; empty: there is
  uint32_t cells = 0;              // that the cell was divided into
  uint64_t left_out = 0;           // jobs
  uint64_t cut_to_machine = 0;     // jobs (cell_experiments.h)
  brain::CompactionResult result;  // a trial's machines are the sum over the cells
};

struct CompactionRunsHooks {
  // What is run and the share of it all that is done, in [0, 1]. From any thread, one call at a time.
  std::function<void(std::string_view what, double share)> on_progress;
  // How the trials of a run were packed, once each: by part, then trial. Called from one thread. Each costs one
  // packing more.
  std::function<void(const CompactionRun& run, const brain::CellModel& part, uint32_t trial,
                     brain::TrialPacking packing)>
      on_packing;
  // Asked before each trial, from any thread: true ends the run.
  std::function<bool()> should_stop;
};

// The cell as it is, packed once.
struct PackedCell {
  uint64_t pending = 0;  // tasks
  std::string why;       // of the first job with a pending task; empty: there is none
};

struct CompactionRuns {
  PackedCell packed;  // with all jobs
  // Left out of the runs, since no machine of the cell could run one of their tasks.
  uint64_t impossible_jobs = 0, impossible_tasks = 0;
  uint64_t softened = 0;            // jobs whose constraints became preferences (compaction.h)
  std::vector<CompactionRun> runs;  // "base" first
  // Why the base would not do with one machine less, in the trial whose machines are the result; may be
  // empty.
  std::string one_less;
  bool partial = false;  // should_stop ended it; experiments that were not finished are missing
};

// Errors are those of CompactCell for the base; another experiment's FailedPrecondition is its `not_run`. The
// result is the same on any number of threads. The experiments must outlive the result.
absl::StatusOr<CompactionRuns> RunCompactions(const brain::CellModel& cell,
                                              const CompactionRunsOptions& options,
                                              const CompactionRunsHooks& hooks = {});

}  // namespace taut::tools
