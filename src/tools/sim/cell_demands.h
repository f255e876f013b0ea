// What the jobs of a cell would ask for by recommenders and predictors that have seen their usage until a time.
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
  // Its policies have a demand each; there may be none. `managed` and `resources` are not used.
  ReplayOptions replay;
  std::vector<std::string> predictors;  // as NewPeakPredictor takes them
  brain::OvercommitSettings overcommit;
  WindowId until;  // the windows before it are seen
};

// What tasks ask for by one recommender or predictor.
struct CellDemand {
  std::string name;        // "limits:analogs", "reservations:rc-like", "machines:pool"
  std::string of;          // "analogs"
  bool is_limits = false;  // else reservations, or loads
  // Of a predictor of whole machines what tasks need together; it has no amounts. Null of others.
  std::shared_ptr<const brain::MachineLoads> loads;
  std::string lacks;              // what such a predictor has not seen enough of: "" if nothing
  brain::JobAmounts amounts;      // of the jobs of the cell that have any
  uint64_t kept_jobs = 0;         // of the cell, with no amount of their own
  uint64_t kept_tasks = 0;        // theirs
  uint64_t partly_jobs = 0;       // with one for CPU or memory alone, although they ask for both
  std::vector<std::string> kept;  // the first of kept_jobs, then of partly_jobs
  // Of limits: the share of job-days, after the warm-up, with a window over the limit. Absent: none was scored.
  PerResource<std::optional<double>> over_days;  // by Resource
};

struct CellDemands {
  std::vector<CellDemand> all;  // policies, then predictors, as ordered
  WindowId first;               // with usage
  WindowId last;                // the last one with usage before `until`
};

struct CellDemandsHooks {
  std::function<void(std::string_view what, double share)> on_progress;
  std::function<bool()> should_stop;
};

// Jobs of the usage are those of the cell with the same name. A limit is the one in force in the job's last
// window before `until`, for each of its tasks. A reservation is the mean over the tasks of what the predictor
// says of each alone after that window, of the tasks that were measured within an hour of it; a window without
// an owner's limit counts with the cell's. Amounts are rounded up to whole units of the cell, or to the nearest
// one within 1e-6 of them.
//
// A predictor that does not add up tasks says what tasks need together on one machine (machine_histories.h).
//
// Reads `source` once for all policies, once a resource for all predictors that add up tasks, and once a resource
// and twice more for the others. InvalidArgument as Replay and AddsUpTasks, and if there is no usage before
// `until`; Cancelled if should_stop ended it.
absl::StatusOr<CellDemands> ReplayCellDemands(DaySource& source, const brain::CellModel& cell,
                                              const CellDemandsOptions& options,
                                              const CellDemandsHooks& hooks = {});

// Whether its prediction for a machine is a sum over tasks, each of which has a reservation then. InvalidArgument
// if it is no predictor.
absl::StatusOr<bool> AddsUpTasks(const std::string& spec, const brain::OvercommitSettings& settings);

// The first window with usage, and the one behind the last. InvalidArgument: there is no usage.
struct UsageSpan {
  WindowId begin, end;
};
absl::StatusOr<UsageSpan> SpanOf(DaySource& source);

// A cell's jobs: those with usage within the hour before `until`, with the tasks and the owner's limits of their
// last window, all of it reserved, of the tiers of their priorities; without one, batch. Jobs without an owner's
// limit of CPU or memory are left out and counted.
struct UsageJobs {
  std::vector<brain::CellJob> jobs;
  brain::CellFindings left_out;
};
absl::StatusOr<UsageJobs> JobsOfUsage(DaySource& source, WindowId until);

}  // namespace taut::tools
