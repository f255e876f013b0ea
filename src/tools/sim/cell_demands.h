// Limits and reservations for the jobs of a cell, which recommenders and predictors compute from usage before a
// given time.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "brain/cell/cell_experiments.h"
#include "brain/cell/cell_model.h"
#include "brain/cell/machine_load.h"
#include "brain/overcommit/settings.h"
#include "common/model/resource.h"
#include "tools/sim/replay.h"

namespace taut::tools {

struct CellDemandsOptions {
  // Each policy of `replay` results in a demand; the list of policies may be empty. `managed` and `resources` are
  // ignored.
  ReplayOptions replay;
  std::vector<std::string> predictors;  // specs for NewPeakPredictor()
  brain::OvercommitSettings overcommit;
  WindowId until;  // end of the usage that is read, exclusive
};

// Amounts for the tasks of a cell, computed by one recommender or predictor.
struct CellDemand {
  std::string name;        // name such as "limits:analogs", "reservations:rc-like" or "machines:pool"
  std::string of;          // name of the recommender or predictor, such as "analogs"
  bool is_limits = false;  // true: limits; false: reservations, or loads of whole machines
  // Peaks of whole machines, for a predictor that does not add up tasks; `amounts` is then empty. Null for all
  // other demands.
  std::shared_ptr<const brain::MachineLoads> loads;
  std::string lacks;          // history that a predictor of whole machines lacks, as text; "" if none
  brain::JobAmounts amounts;  // amounts by name of the job; jobs without an amount are absent
  uint64_t kept_jobs = 0;     // number of jobs without an amount, which keep their limits and reservations
  uint64_t kept_tasks = 0;    // number of tasks of the kept_jobs
  uint64_t partly_jobs = 0;   // number of jobs with an amount for only one of the resources that they request
  std::vector<std::string> kept;  // names of some kept_jobs, then of some partly_jobs
  // For limits: share of scored job-days with a window above the limit; absent if no job-day was scored.
  PerResource<std::optional<double>> over_days;
};

struct CellDemands {
  std::vector<CellDemand> all;  // demands of policies, then of predictors, in the order of the options
  WindowId first;               // first window with usage
  WindowId last;                // last window with usage before `until`
};

struct CellDemandsHooks {
  std::function<void(std::string_view what, double share)> on_progress;
  std::function<bool()> should_stop;
};

// Replays recommenders and predictors over the usage before `until`. Jobs of the usage and of the cell are matched
// by name. A limit is the limit in force in the job's last window. If the owner's limit is unknown in that window,
// the cell's limit is used.
//
// A reservation is the mean over the job's tasks of the prediction for a single task after the last window. Tasks
// without a measurement in the hour before the last window are omitted. Amounts are rounded up to whole units of
// the cell, or to the nearest unit if that is within 1e-6.
//
// A predictor that does not add up tasks predicts the peak of all tasks on one machine (machine_histories.h).
//
// Reads `source` once for all policies, once per resource for all predictors that add up tasks, and, for
// predictors of whole machines, twice plus once per resource. Returns errors of Replay() and AddsUpTasks(),
// InvalidArgument if there is no usage before `until`, and Cancelled if should_stop returned true.
absl::StatusOr<CellDemands> ReplayCellDemands(DaySource& source, const brain::CellModel& cell,
                                              const CellDemandsOptions& options,
                                              const CellDemandsHooks& hooks = {});

// Returns true if the predictor's value for a machine is a sum over its tasks, so each task has a reservation of
// its own. Returns InvalidArgument if `spec` names no predictor.
absl::StatusOr<bool> AddsUpTasks(const std::string& spec, const brain::OvercommitSettings& settings);

// The windows with usage: the first one, and the window after the last one.
struct UsageSpan {
  WindowId begin, end;
};
// Returns the span of usage; InvalidArgument if there is no usage. Reads days from both ends until a window is
// found.
absl::StatusOr<UsageSpan> SpanOf(DaySource& source);

// Jobs of a cell, derived from jobs of a trace with usage in the hour before `until`. The number of tasks and the
// owner's limits come from the job's last window. The reservation equals the limit. The tier follows from the
// priority; jobs without a priority are batch. Jobs without an owner's limit for CPU or memory are omitted and
// counted.
struct UsageJobs {
  std::vector<brain::CellJob> jobs;
  brain::CellFindings left_out;
};
absl::StatusOr<UsageJobs> JobsOfUsage(DaySource& source, WindowId until);

}  // namespace taut::tools
