// What each peak predictor would have predicted for machines that are made of a trace's tasks, and what came.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "brain/cell/cell_model.h"
#include "brain/overcommit/peak_predictor.h"
#include "brain/overcommit/settings.h"
#include "common/base/time.h"
#include "tools/sim/placed_tasks.h"

namespace taut::tools {

inline constexpr std::string_view kOracle = "oracle";  // knows the peak that comes

struct OvercommitOptions {
  std::vector<std::string> predictors;  // as NewPeakPredictor, or kOracle
  uint32_t machine_tasks = 25;
  uint32_t placements = 2;  // of all tasks on machines, at random; all their machines are one cell
  uint64_t seed = 1;
  int64_t warmup_s = 14 * kDaySeconds;
  int64_t every_s = 2 * 3600;
  brain::OvercommitSettings settings;  // its horizon is the oracle's too

  int64_t horizon_s() const { return static_cast<int64_t>(settings.horizon_h * 3600); }
};

// Of the predictions of one predictor whose oracle is known.
struct OvercommitScore {
  uint64_t predictions = 0;
  uint64_t below = 0;                           // predictions below the oracle
  double predicted = 0, limit = 0, oracle = 0;  // sums
  double savings = 0;                           // sum of 1 - prediction / limit
  double shortfall = 0;                         // sum of (oracle - prediction) / oracle where below
  // Sums over the predictions for machines whose capacity is known; 0 for machines that are made.
  double capacity = 0, predicted_of_capacity = 0;

  double footprint() const { return limit > 0 ? predicted / limit : 0; }
  double below_share() const { return Mean(static_cast<double>(below), predictions); }
  double mean_savings() const { return Mean(savings, predictions); }
  double capacity_share() const { return capacity > 0 ? predicted_of_capacity / capacity : 0; }
  double severity() const { return Mean(shortfall, below); }
  static double Mean(double sum, uint64_t n) { return n > 0 ? sum / static_cast<double>(n) : 0; }
  void Add(double limit, double predicted, double oracle);
};

// The machines that a trace recorded, over the windows of a replay.
struct RecordedUse {
  std::vector<std::string> machines;  // names, by number
  uint64_t task_windows = 0;          // that were measured on a machine and have an owner's limit
  uint64_t without_machine = 0, without_limit = 0;  // task-windows that were left out
  uint64_t moves = 0;                               // of a task, from one machine to another
  // Sums over machine-windows with tasks and a known capacity.
  double capacity = 0, limit = 0, usage = 0;
  uint64_t machine_windows = 0, without_capacity = 0;  // the others with tasks
  std::vector<brain::CellFinding> findings;            // what cannot be right, or does not fit
};

struct OvercommitResult {
  struct Row {
    std::string predictor;
    OvercommitScore total;
    std::vector<OvercommitScore> by_placement;
    std::vector<OvercommitScore> by_machine;  // by their numbers
  };
  Resource resource = Resource::kCpu;
  size_t tasks = 0, machines = 0;
  // Of made machines: tasks that are on none: without an owner's limit, not measured throughout, and in each
  // placement those that fill no machine.
  size_t without_limit = 0, not_throughout = 0, left_over = 0;
  uint64_t unscored = 0;  // predictions at times whose horizon was measured for less than half
  std::vector<Row> rows;
  bool partial = false;
  // What happened on the machines of the trace, if it is of those and not of machines made of its tasks.
  bool of_recorded = false;
  RecordedUse recorded;
};

// One prediction, for who wants to recompute a score.
struct OvercommitDecision {
  int64_t time_s = 0;  // it knows the windows before
  Resource resource = Resource::kCpu;
  uint32_t placement = 0, machine = 0;  // the machine within its placement
  uint32_t machine_number = 0;          // within the cell
  std::string_view predictor;
  std::string_view machine_name = {};  // of a recorded machine
  double limit = 0, predicted = 0, oracle = 0;
  const brain::PeakPredictor* decider = nullptr;  // can explain it; null for the oracle
};
struct OvercommitHooks {
  std::function<void(const OvercommitDecision&)> on_decision;
  std::function<void(double share)> on_progress;
  std::function<bool()> should_stop;  // true ends the replay with a partial result
};

// The predictors of the options, in their order; null: the oracle. InvalidArgument for one that there is not.
absl::StatusOr<std::vector<std::unique_ptr<brain::PeakPredictor>>> MakePredictors(
    const OvercommitOptions& options);
// A row for each predictor of the options, without predictions yet.
std::vector<OvercommitResult::Row> EmptyRows(const OvercommitOptions& options, size_t placements,
                                             size_t machines);
// Shows all of them (null: none) the recorded usage of all machines in a window, `at` windows after the first.
void ObserveWindow(const PlacedTasks& placed, const std::vector<std::vector<uint32_t>>& machines, size_t at,
                   std::span<const std::unique_ptr<brain::PeakPredictor>> predictors);

// The peak of the tasks of a machine over the windows [from, from + horizon): the highest sum of the measured
// usages, each at most the task's limit at `from`. Negative if fewer than half of the windows were measured.
double OraclePeak(const PlacedTasks& placed, std::span<const uint32_t> machine, size_t from, size_t horizon);

// InvalidArgument for times that are no whole windows, or that the trace is too short for.
absl::Status CheckOvercommitTimes(size_t windows, const OvercommitOptions& options);
// InvalidArgument for what cannot be: too few tasks, a horizon longer than the trace, ...
absl::Status CheckOvercommit(const PlacedTasks& placed, const OvercommitOptions& options);

// InvalidArgument as CheckOvercommit, and for a predictor that there is not.
absl::StatusOr<OvercommitResult> ReplayOvercommit(const PlacedTasks& placed, const OvercommitOptions& options,
                                                  const OvercommitHooks& hooks = {});

}  // namespace taut::tools
