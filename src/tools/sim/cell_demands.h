// Limits and reservations of a cell's jobs, computed by recommenders and predictors from the jobs' usage
// before a given time.
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
  // Each policy of these options results in a demand; the list of policies may be empty. `managed` and
  // `resources` are ignored.
  ReplayOptions replay;
  std::vector<std::string> predictors;  // specs that NewPeakPredictor parses
  brain::OvercommitSettings overcommit;
  WindowId until;  // only windows before it are read
};

// Amounts of the cell's tasks by one recommender or predictor.
struct CellDemand {
  std::string name;        // "limits:analogs", "reservations:rc-like", "machines:pool"
  std::string of;          // recommender or predictor: "analogs"
  bool is_limits = false;  // false: reservations, or loads of whole machines
  // Peaks of whole machines, for a predictor that does not add up tasks; its `amounts` are empty. Null for
  // all other demands.
  std::shared_ptr<const brain::MachineLoads> loads;
  std::string lacks;          // history that a predictor of whole machines still lacks; "" if none
  brain::JobAmounts amounts;  // amounts of the cell's jobs that have an amount
  uint64_t kept_jobs = 0;   // jobs of the cell without an amount; their limits and reservations do not change
  uint64_t kept_tasks = 0;  // tasks of the kept_jobs
  uint64_t partly_jobs = 0;  // jobs with an amount for only one of CPU and memory, although they request both
  std::vector<std::string> kept;  // names of the first kept_jobs, then of the first partly_jobs
  // For limits: share of job-days after the warm-up with a window over the limit. Absent if no job-day was
  // scored.
  PerResource<std::optional<double>> over_days;  // by Resource
};

struct CellDemands {
  std::vector<CellDemand> all;  // policies, then predictors, in the order of the options
  WindowId first;               // first window with usage
  WindowId last;                // last window with usage before `until`
};

struct CellDemandsHooks {
  std::function<void(std::string_view what, double share)> on_progress;
  std::function<bool()> should_stop;
};

// Jobs of the usage are matched with the cell's jobs by name. A limit is the limit of a task in force in the
// job's last window before `until`. Where no owner's limit is known, the cell's limit is used.
//
// A reservation is the mean, over the job's tasks, of the predictor's value for each task alone after the
// last window. Tasks that were not measured within the hour before the last window are left out. Amounts are
// rounded up to whole units of the cell, or to the nearest unit if that is within 1e-6.
//
// A predictor that does not add up tasks predicts the peak of the tasks on one machine together
// (machine_histories.h).
//
// Reads `source` once for all policies, and once per resource for all predictors that add up tasks. For
// predictors of whole machines, reads `source` once per resource, and twice more. Returns the errors of
// Replay and AddsUpTasks, InvalidArgument if there is no usage before `until`, and Cancelled if should_stop
// returned true.
absl::StatusOr<CellDemands> ReplayCellDemands(DaySource& source, const brain::CellModel& cell,
                                              const CellDemandsOptions& options,
                                              const CellDemandsHooks& hooks = {});

// Returns true if the predictor's value for a machine is a sum over tasks, so that each task has a
// reservation. Returns InvalidArgument if `spec` names no predictor.
absl::StatusOr<bool> AddsUpTasks(const std::string& spec, const brain::OvercommitSettings& settings);

// First window with usage, and the window after the last one with usage.
struct UsageSpan {
  WindowId begin, end;
};
// Returns the span of usage; InvalidArgument if there is no usage. Reads days from both ends until a window
// is found.
absl::StatusOr<UsageSpan> SpanOf(DaySource& source);

// Jobs of a cell, made from the jobs of a trace that have usage within the hour before `until`. The number of
// tasks and the owner's limits are those of the job's last window. The reservation is the whole limit. The
// tier follows from the priority (batch if there is no priority). Jobs without an owner's limit of CPU or
// memory are left out and counted.
struct UsageJobs {
  std::vector<brain::CellJob> jobs;
  brain::CellFindings left_out;
};
absl::StatusOr<UsageJobs> JobsOfUsage(DaySource& source, WindowId until);

}  // namespace taut::tools
