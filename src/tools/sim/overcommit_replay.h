// Replays peak predictors over random machines of a trace's tasks, and compares the predictions with recorded
// peaks.
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

inline constexpr std::string_view kOracle = "oracle";  // name of the predictor that knows the future peak

struct OvercommitOptions {
  std::vector<std::string> predictors;  // specs for NewPeakPredictor(), or kOracle
  uint32_t machine_tasks = 25;
  // Number of random placements of all tasks on machines. The machines of all placements form one cell.
  uint32_t placements = 2;
  uint64_t seed = 1;
  int64_t warmup_s = 14 * kDaySeconds;
  int64_t every_s = 2 * 3600;
  brain::OvercommitSettings settings;  // settings of the predictors; the oracle uses the horizon

  int64_t horizon_s() const { return static_cast<int64_t>(settings.horizon_h * 3600); }
};

// Sums over the predictions of one predictor for which the oracle is known.
struct OvercommitScore {
  uint64_t predictions = 0;
  uint64_t below = 0;                           // number of predictions below the oracle
  double predicted = 0, limit = 0, oracle = 0;  // amounts, summed over the predictions
  double savings = 0;                           // sum of 1 - prediction / limit
  double shortfall = 0;  // sum of (oracle - prediction) / oracle over the predictions below the oracle
  // Sums over predictions for machines with a known capacity. Random machines have no known capacity, so both sums
  // are 0.
  double capacity = 0, predicted_of_capacity = 0;

  double footprint() const { return limit > 0 ? predicted / limit : 0; }
  double below_share() const { return Mean(static_cast<double>(below), predictions); }
  double mean_savings() const { return Mean(savings, predictions); }
  double capacity_share() const { return capacity > 0 ? predicted_of_capacity / capacity : 0; }
  double severity() const { return Mean(shortfall, below); }
  static double Mean(double sum, uint64_t n) { return n > 0 ? sum / static_cast<double>(n) : 0; }
  void Add(double limit, double predicted, double oracle);
};

// Usage of the recorded machines over the windows of a replay.
struct RecordedUse {
  std::vector<std::string> machines;  // names by number of the machine
  // Number of task-windows with a machine and an owner's limit
  uint64_t task_windows = 0;
  uint64_t without_machine = 0, without_limit = 0;  // numbers of omitted task-windows
  uint64_t moves = 0;                               // number of moves of a task to another machine
  // Sums over machine-windows with tasks and a known capacity.
  double capacity = 0, limit = 0, usage = 0;
  // Number of machine-windows with tasks, and of machine-windows without a known capacity.
  uint64_t machine_windows = 0, without_capacity = 0;
  std::vector<brain::CellFinding> findings;  // impossible or contradictory records
};

struct OvercommitResult {
  struct Row {
    std::string predictor;
    OvercommitScore total;
    std::vector<OvercommitScore> by_placement;
    std::vector<OvercommitScore> by_machine;  // score of each machine, by its number
  };
  Resource resource = Resource::kCpu;
  size_t tasks = 0, machines = 0;
  // For random machines: numbers of tasks without an owner's limit, of tasks without continuous usage, and of
  // tasks per placement that did not fill a machine.
  size_t without_limit = 0, not_throughout = 0, left_over = 0;
  uint64_t unscored = 0;  // number of predictions with less than half of the horizon measured
  std::vector<Row> rows;
  bool partial = false;
  // True for recorded machines; `recorded` then contains their usage.
  bool of_recorded = false;
  RecordedUse recorded;
};

// A prediction with the data from which its score can be recomputed.
struct OvercommitDecision {
  int64_t time_s = 0;  // time of the prediction, which uses earlier windows only
  Resource resource = Resource::kCpu;
  uint32_t placement = 0, machine = 0;  // number of the placement, and of the machine in the placement
  uint32_t machine_number = 0;          // number of the machine in the cell
  std::string_view predictor;
  std::string_view machine_name = {};  // name of a recorded machine; empty for a random machine
  double limit = 0, predicted = 0, oracle = 0;
  // Explains the prediction; valid during the call. Null for the oracle.
  const brain::PeakPredictor* decider = nullptr;
};
struct OvercommitHooks {
  std::function<void(const OvercommitDecision&)> on_decision;
  std::function<void(double share)> on_progress;
  std::function<bool()> should_stop;  // true ends the replay with a partial result
};

// Returns the predictors of the options in order, with null for the oracle. Returns InvalidArgument for an unknown
// predictor.
absl::StatusOr<std::vector<std::unique_ptr<brain::PeakPredictor>>> MakePredictors(
    const OvercommitOptions& options);
// Returns one row without predictions per predictor of the options.
std::vector<OvercommitResult::Row> EmptyRows(const OvercommitOptions& options, size_t placements,
                                             size_t machines);
// Passes the recorded usage of all machines in one window to all predictors that are not null. `at` counts windows
// from the first window on.
void ObserveWindow(const PlacedTasks& placed, const std::vector<std::vector<uint32_t>>& machines, size_t at,
                   std::span<const std::unique_ptr<brain::PeakPredictor>> predictors);

// Returns the peak of a machine's tasks over the windows [from, from + horizon): the highest sum of usage, with
// each task capped at its limit at `from`. Negative if fewer than half of the windows were measured.
double OraclePeak(const PlacedTasks& placed, std::span<const uint32_t> machine, size_t from, size_t horizon);

// Returns InvalidArgument for times that are not whole windows, and if the trace is too short for these times.
absl::Status CheckOvercommitTimes(size_t windows, const OvercommitOptions& options);
// Returns InvalidArgument if there are too few tasks for a machine or too many placements, and errors of
// CheckOvercommitTimes().
absl::Status CheckOvercommit(const PlacedTasks& placed, const OvercommitOptions& options);

// Replays the predictors over random machines. Returns InvalidArgument for an unknown predictor, and errors of
// CheckOvercommit().
absl::StatusOr<OvercommitResult> ReplayOvercommit(const PlacedTasks& placed, const OvercommitOptions& options,
                                                  const OvercommitHooks& hooks = {});

}  // namespace taut::tools
