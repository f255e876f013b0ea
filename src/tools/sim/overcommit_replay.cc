#include "tools/sim/overcommit_replay.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "brain/overcommit/predictors.h"
#include "common/base/strings.h"
#include "fmt/format.h"

namespace taut::tools {
namespace {

constexpr uint32_t kMostPlacements = 1000;

double Days(int64_t seconds) { return static_cast<double>(seconds) / kDaySeconds; }

class OvercommitReplay {
 public:
  OvercommitReplay(const PlacedTasks& placed, const OvercommitOptions& options, const OvercommitHooks& hooks)
      : placed_(placed),
        options_(options),
        hooks_(hooks),
        machines_(
            PlaceAtRandom(placed.tasks.size(), options.machine_tasks, options.placements, options.seed)) {}

  absl::Status Prepare() {
    result_.resource = placed_.resource;
    result_.tasks = placed_.tasks.size();
    result_.machines = machines_.size();
    absl::StatusOr<std::vector<std::unique_ptr<brain::PeakPredictor>>> made = MakePredictors(options_);
    if (!made.ok()) return made.status();
    predictors_ = *std::move(made);
    result_.rows = EmptyRows(options_, options_.placements, machines_.size());
    return absl::OkStatus();
  }

  OvercommitResult Run() {
    const auto every = static_cast<size_t>(options_.every_s / kWindowSeconds);
    const auto warmup = static_cast<size_t>(options_.warmup_s / kWindowSeconds);
    const auto horizon = static_cast<size_t>(options_.horizon_s() / kWindowSeconds);
    for (size_t i = 0; i < placed_.windows; ++i) {
      if (i % kWindowsPerDay == 0) {
        if (hooks_.on_progress)
          hooks_.on_progress(static_cast<double>(i) / static_cast<double>(placed_.windows));
        if (hooks_.should_stop && hooks_.should_stop()) {
          result_.partial = true;
          break;
        }
      }
      // Score before observing window i, because a prediction may use only earlier windows.
      if (i >= warmup && i > 0 && i % every == 0 && i + horizon <= placed_.windows) Score(i, horizon);
      ObserveWindow(placed_, machines_, i, predictors_);
    }
    return std::move(result_);
  }

 private:
  void Score(size_t i, size_t horizon) {
    const auto per_placement = static_cast<uint32_t>(machines_.size() / options_.placements);
    for (uint32_t m = 0; m < machines_.size(); ++m) {
      const double oracle = OraclePeak(placed_, machines_[m], i, horizon);
      if (oracle < 0) {
        ++result_.unscored;
        continue;
      }
      double limit = 0;
      for (const uint32_t t : machines_[m]) limit += placed_.tasks[t].limit[i];
      for (size_t r = 0; r < predictors_.size(); ++r) {
        const double predicted = predictors_[r] == nullptr ? oracle : predictors_[r]->Predict(m);
        OvercommitResult::Row& row = result_.rows[r];
        row.total.Add(limit, predicted, oracle);
        row.by_placement[m / per_placement].Add(limit, predicted, oracle);
        row.by_machine[m].Add(limit, predicted, oracle);
        if (!hooks_.on_decision) continue;
        hooks_.on_decision({(placed_.first.index + static_cast<int64_t>(i)) * kWindowSeconds,
                            placed_.resource,
                            m / per_placement,
                            m % per_placement,
                            m,
                            row.predictor,
                            {},
                            limit,
                            predicted,
                            oracle,
                            predictors_[r].get()});
      }
    }
  }

  const PlacedTasks& placed_;
  const OvercommitOptions& options_;
  const OvercommitHooks& hooks_;
  const std::vector<std::vector<uint32_t>> machines_;
  std::vector<std::unique_ptr<brain::PeakPredictor>> predictors_;  // predictors by row; null: the oracle
  OvercommitResult result_;
};

}  // namespace

void OvercommitScore::Add(double limits, double prediction, double peak) {
  ++predictions;
  limit += limits;
  predicted += prediction;
  oracle += peak;
  savings += limits > 0 ? 1 - prediction / limits : 0;
  // Sums of equal floats in another order may differ in the last bits. The tolerance keeps an equal prediction
  // from counting as below the peak.
  if (prediction >= peak * (1 - 1e-9)) return;
  ++below;
  shortfall += (peak - prediction) / peak;
}

absl::StatusOr<std::vector<std::unique_ptr<brain::PeakPredictor>>> MakePredictors(
    const OvercommitOptions& options) {
  std::vector<std::unique_ptr<brain::PeakPredictor>> out;
  for (const std::string& name : options.predictors) {
    if (name == kOracle) {
      out.push_back(nullptr);
      continue;
    }
    absl::StatusOr<std::unique_ptr<brain::PeakPredictor>> made =
        brain::NewPeakPredictor(name, options.settings);
    if (!made.ok()) return made.status();
    out.push_back(*std::move(made));
  }
  return out;
}

std::vector<OvercommitResult::Row> EmptyRows(const OvercommitOptions& options, size_t placements,
                                             size_t machines) {
  std::vector<OvercommitResult::Row> out;
  for (const std::string& name : options.predictors) {
    OvercommitResult::Row& row = out.emplace_back();
    row.predictor = name;
    row.by_placement.resize(placements);
    row.by_machine.resize(machines);
  }
  return out;
}

void ObserveWindow(const PlacedTasks& placed, const std::vector<std::vector<uint32_t>>& machines, size_t at,
                   std::span<const std::unique_ptr<brain::PeakPredictor>> predictors) {
  const WindowId window{placed.first.index + static_cast<int32_t>(at)};
  std::vector<brain::TaskLoad> loads;
  for (uint32_t m = 0; m < machines.size(); ++m) {
    loads.clear();
    for (const uint32_t t : machines[m])
      loads.push_back({t, placed.tasks[t].usage[at], placed.tasks[t].limit[at]});
    const brain::MachineWindow sums = Sum(loads);
    for (const auto& p : predictors) {
      if (p != nullptr) p->Observe(window, m, sums);
    }
  }
  for (const auto& p : predictors) {
    if (p != nullptr) p->EndWindow(window);
  }
}

double OraclePeak(const PlacedTasks& placed, std::span<const uint32_t> machine, size_t from, size_t horizon) {
  double peak = -1;
  size_t measured = 0;
  double limit = 0;
  for (const uint32_t t : machine) limit += placed.tasks[t].limit[from];
  for (size_t i = from; i < std::min(from + horizon, placed.windows); ++i) {
    double usage = 0, measured_limit = 0;
    for (const uint32_t t : machine) {
      const TaskSeries& series = placed.tasks[t];
      if (series.usage[i] < 0) continue;
      usage += std::min(series.usage[i], series.limit[from]);
      measured_limit += series.limit[from];
    }
    // The sum of a few tasks would underestimate the peak, so tasks with at least half of the limits must be
    // measured.
    if (measured_limit <= 0 || measured_limit < limit / 2) continue;
    ++measured;
    peak = std::max(peak, usage);
  }
  return 2 * measured >= horizon ? peak : -1;
}

absl::Status CheckOvercommitTimes(size_t windows, const OvercommitOptions& o) {
  const auto whole = [](int64_t seconds) { return seconds > 0 && seconds % kWindowSeconds == 0; };
  if (!whole(o.every_s) || !whole(o.horizon_s())) {
    return absl::InvalidArgumentError(
        fmt::format("invalid times: predictions every {} s of the next {} s: expected multiples of {} s",
                    o.every_s, o.horizon_s(), kWindowSeconds));
  }
  const int64_t span_s = static_cast<int64_t>(windows) * kWindowSeconds;
  if (o.horizon_s() > span_s) {
    return absl::InvalidArgumentError(
        fmt::format("invalid horizon {:.4g} days: expected at most the length of the trace, {:.4g} days",
                    Days(o.horizon_s()), Days(span_s)));
  }
  if (o.warmup_s + o.horizon_s() > span_s) {
    return absl::InvalidArgumentError(
        fmt::format("invalid warm-up {:.4g} days: expected at most {:.4g} days, the length of the trace less "
                    "the horizon",
                    Days(o.warmup_s), Days(span_s - o.horizon_s())));
  }
  return absl::OkStatus();
}

absl::Status CheckOvercommit(const PlacedTasks& placed, const OvercommitOptions& o) {
  if (absl::Status s = CheckOvercommitTimes(placed.windows, o); !s.ok()) return s;
  if (o.machine_tasks < 1 || o.machine_tasks > placed.tasks.size()) {
    return absl::InvalidArgumentError(fmt::format(
        "invalid number of tasks on a machine {}: expected 1 to {}, the tasks with a {} limit that are "
        "measured throughout the trace ({} without a limit, {} not throughout)",
        o.machine_tasks, placed.tasks.size(), Name(placed.resource), placed.without_limit,
        placed.not_throughout));
  }
  if (o.placements < 1 || o.placements > kMostPlacements) {
    return absl::InvalidArgumentError(
        fmt::format("invalid number of placements {}: expected 1 to {}", o.placements, kMostPlacements));
  }
  return absl::OkStatus();
}

absl::StatusOr<OvercommitResult> ReplayOvercommit(const PlacedTasks& placed, const OvercommitOptions& options,
                                                  const OvercommitHooks& hooks) {
  if (absl::Status s = CheckOvercommit(placed, options); !s.ok()) return s;
  OvercommitReplay replay(placed, options, hooks);
  if (absl::Status s = replay.Prepare(); !s.ok()) return s;
  absl::StatusOr<OvercommitResult> out = replay.Run();
  if (!out.ok()) return out;
  out->without_limit = placed.without_limit;
  out->not_throughout = placed.not_throughout;
  out->left_over = placed.tasks.size() % options.machine_tasks;
  return out;
}

}  // namespace taut::tools
