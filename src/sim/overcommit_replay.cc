#include "sim/overcommit_replay.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "base/random.h"
#include "base/strings.h"
#include "overcommit/predictors.h"

namespace taut {
namespace {

constexpr std::string_view kOracle = "oracle";
constexpr float kNone = -1;
constexpr uint32_t kMostPlacements = 1000;

double Days(int64_t seconds) { return static_cast<double>(seconds) / kDaySeconds; }

// The machines of all placements: task numbers, ascending.
std::vector<std::vector<uint32_t>> Place(size_t tasks, const OvercommitOptions& options) {
  std::vector<std::vector<uint32_t>> machines;
  Rng rng(options.seed);
  for (uint32_t p = 0; p < options.placements; ++p) {
    std::vector<uint32_t> order(tasks);
    for (uint32_t i = 0; i < tasks; ++i) order[i] = i;
    for (size_t i = tasks; i > 1; --i) std::swap(order[i - 1], order[rng.Below(i)]);
    for (size_t at = 0; at + options.machine_tasks <= tasks; at += options.machine_tasks) {
      std::vector<uint32_t> machine(order.begin() + static_cast<std::ptrdiff_t>(at),
                                    order.begin() + static_cast<std::ptrdiff_t>(at + options.machine_tasks));
      std::ranges::sort(machine);
      machines.push_back(std::move(machine));
    }
  }
  return machines;
}

class OvercommitReplay {
 public:
  OvercommitReplay(const PlacedTasks& placed, const OvercommitOptions& options, const OvercommitHooks& hooks)
      : placed_(placed), options_(options), hooks_(hooks), machines_(Place(placed.tasks.size(), options)) {}

  absl::Status Prepare() {
    result_.resource = placed_.resource;
    result_.tasks = placed_.tasks.size();
    result_.machines = machines_.size();
    for (const std::string& name : options_.predictors) {
      std::unique_ptr<PeakPredictor> made;
      if (name != kOracle) {
        absl::StatusOr<std::unique_ptr<PeakPredictor>> p = NewPeakPredictor(name, options_.settings);
        if (!p.ok()) return p.status();
        made = *std::move(p);
      }
      predictors_.push_back(std::move(made));
      OvercommitResult::Row row;
      row.predictor = name;
      row.by_placement.resize(options_.placements);
      row.by_machine.resize(machines_.size());
      result_.rows.push_back(std::move(row));
    }
    return absl::OkStatus();
  }

  OvercommitResult Run() {
    const auto every = static_cast<size_t>(options_.every_s / kWindowSeconds);
    const auto warmup = static_cast<size_t>(options_.warmup_s / kWindowSeconds);
    const auto horizon = static_cast<size_t>(options_.horizon_s() / kWindowSeconds);
    std::vector<TaskLoad> loads(options_.machine_tasks);
    for (size_t i = 0; i < placed_.windows; ++i) {
      if (i % kWindowsPerDay == 0) {
        if (hooks_.on_progress)
          hooks_.on_progress(static_cast<double>(i) / static_cast<double>(placed_.windows));
        if (hooks_.should_stop && hooks_.should_stop()) {
          result_.partial = true;
          break;
        }
      }
      if (i >= warmup && i > 0 && i % every == 0 && i + horizon <= placed_.windows) Score(i, horizon);
      const WindowId window{placed_.first.index + static_cast<int32_t>(i)};
      for (uint32_t m = 0; m < machines_.size(); ++m) {
        for (size_t k = 0; k < machines_[m].size(); ++k) loads[k] = Load(machines_[m][k], i);
        const MachineWindow sums = Sum(loads);
        for (const auto& p : predictors_) {
          if (p != nullptr) p->Observe(window, m, sums);
        }
      }
      for (const auto& p : predictors_) {
        if (p != nullptr) p->EndWindow(window);
      }
    }
    return std::move(result_);
  }

 private:
  TaskLoad Load(uint32_t task, size_t window) const {
    const TaskSeries& series = placed_.tasks[task];
    return {task, series.usage[window], series.limit[window]};
  }

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
                            placed_.resource, m / per_placement, m % per_placement, m, row.predictor, limit,
                            predicted, oracle, predictors_[r].get()});
      }
    }
  }

  const PlacedTasks& placed_;
  const OvercommitOptions& options_;
  const OvercommitHooks& hooks_;
  const std::vector<std::vector<uint32_t>> machines_;
  std::vector<std::unique_ptr<PeakPredictor>> predictors_;  // by row; null: the oracle
  OvercommitResult result_;
};

absl::Status Check(const PlacedTasks& placed, const OvercommitOptions& o) {
  const auto whole = [](int64_t seconds) { return seconds > 0 && seconds % kWindowSeconds == 0; };
  if (!whole(o.every_s) || !whole(o.horizon_s())) {
    return absl::InvalidArgumentError(
        fmt::format("invalid times: predictions every {} s of the next {} s: expected multiples of {} s",
                    o.every_s, o.horizon_s(), kWindowSeconds));
  }
  const int64_t span_s = static_cast<int64_t>(placed.windows) * kWindowSeconds;
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

// Gathers the days of a trace into series.
class SeriesReader {
 public:
  SeriesReader(const std::vector<JobInfo>& jobs, Resource resource, int32_t first_day, size_t windows)
      : jobs_(jobs), cpu_(resource == Resource::kCpu), windows_(windows) {
    out_.resource = resource;
    out_.first = {first_day * kWindowsPerDay};
    any_.resize(windows);
  }

  void Take(const JobDay& day) {
    for (const JobWindow& w : day.windows) {
      const float limit = cpu_ ? w.cpu_limit_cores : w.memory_limit_bytes;
      const auto at = static_cast<size_t>(w.window.index - out_.first.index);
      for (uint32_t i = w.first_task; i < w.first_task + w.num_tasks; ++i) {
        const TaskWindow& t = day.tasks[i];
        const float usage = cpu_ ? t.cpu_mean_cores : t.memory_peak_bytes;
        if (usage < 0) continue;
        TaskSeries& series = Of(day.job, t.task);
        series.usage[at] = usage;
        if (limit > 0) series.limit[at] = limit;
        any_[at] = true;
      }
    }
  }

  absl::StatusOr<PlacedTasks> Finish(double present) {
    const auto measured = static_cast<double>(std::ranges::count(any_, true));
    // Up to the last window with usage.
    while (windows_ > 0 && !any_[windows_ - 1]) --windows_;
    size_t begin = 0;
    while (begin < windows_ && !any_[begin]) ++begin;
    for (auto& [id, series] : series_) {
      const auto own = std::ranges::count_if(series.usage, [](float u) { return u >= 0; });
      if (static_cast<double>(own) < present * measured) {
        ++out_.not_throughout;
      } else if (!FillLimits(series.limit)) {
        ++out_.without_limit;
      } else {
        Cut(series.usage, begin);
        Cut(series.limit, begin);
        series.name = jobs_[id.first].name;
        if (id.second > 0) StrAppend(&series.name, "/", id.second);
        out_.tasks.push_back(std::move(series));
      }
    }
    if (out_.tasks.empty() && out_.without_limit > 0) {
      return absl::InvalidArgumentError(
          fmt::format("the trace has no {} limits of owners: {} tasks are measured throughout, none has a "
                      "limit; expected a trace with limits",
                      Name(out_.resource), out_.without_limit));
    }
    out_.first.index += static_cast<int32_t>(begin);
    out_.windows = windows_ - begin;
    return std::move(out_);
  }

 private:
  TaskSeries& Of(JobId job, uint32_t task) {
    TaskSeries& series = series_[{job.value, task}];
    if (series.usage.empty()) {
      series.usage.assign(windows_, kNone);
      series.limit.assign(windows_, kNone);
    }
    return series;
  }
  void Cut(std::vector<float>& values, size_t begin) const {
    values.resize(windows_);
    values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(begin));
  }
  // The last known limit stands; before the first, the first. False if there is none.
  static bool FillLimits(std::vector<float>& limits) {
    const auto first = std::ranges::find_if(limits, [](float l) { return l >= 0; });
    if (first == limits.end()) return false;
    float last = *first;
    for (float& l : limits) last = l = l >= 0 ? l : last;
    return true;
  }

  const std::vector<JobInfo>& jobs_;
  const bool cpu_;
  size_t windows_;
  std::vector<bool> any_;  // windows with any usage
  std::map<std::pair<uint32_t, uint32_t>, TaskSeries> series_;
  PlacedTasks out_;
};

}  // namespace

void OvercommitScore::Add(double limits, double prediction, double peak) {
  ++predictions;
  limit += limits;
  predicted += prediction;
  oracle += peak;
  savings += limits > 0 ? 1 - prediction / limits : 0;
  // Sums of the same floats in another order may differ in their last bits.
  if (prediction >= peak * (1 - 1e-9)) return;
  ++below;
  shortfall += (peak - prediction) / peak;
}

absl::StatusOr<PlacedTasks> ReadPlacedTasks(DaySource& source, Resource resource, double present) {
  const std::vector<int32_t>& days = source.days();
  if (days.empty()) return absl::InvalidArgumentError("the trace has no usage");
  const auto windows = static_cast<size_t>(days.back() - days.front() + 1) * kWindowsPerDay;
  SeriesReader reader(source.jobs(), resource, days.front(), windows);
  for (const int32_t day : days) {
    const absl::StatusOr<std::vector<JobDay>> jobs = source.LoadDay(day);
    if (!jobs.ok()) return jobs.status();
    for (const JobDay& job : *jobs) reader.Take(job);
  }
  return reader.Finish(present);
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
    if (measured_limit <= 0 || measured_limit < limit / 2) continue;
    ++measured;
    peak = std::max(peak, usage);
  }
  return 2 * measured >= horizon ? peak : -1;
}

absl::StatusOr<OvercommitResult> ReplayOvercommit(const PlacedTasks& placed, const OvercommitOptions& options,
                                                  const OvercommitHooks& hooks) {
  if (absl::Status s = Check(placed, options); !s.ok()) return s;
  OvercommitReplay replay(placed, options, hooks);
  if (absl::Status s = replay.Prepare(); !s.ok()) return s;
  return replay.Run();
}

}  // namespace taut
