#include "tools/sim/machine_histories.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>
#include <utility>

#include "brain/cell/recorded_machines.h"
#include "brain/overcommit/predictors.h"
#include "brain/overcommit/summed_peaks.h"
#include "common/base/random.h"
#include "common/base/strings.h"

namespace taut::tools {
namespace {

constexpr double kMadeTasks = 25;  // mean number of tasks on the machines from which a predictor learns
constexpr uint32_t kMadePlacements = 2;
// Maximum amounts after scaling, so that sums over up to a thousand tasks of a machine are below 2^32.
constexpr double kMostLimit = 1 << 22, kMostUsage = brain::TaskSeries16::kNotMeasured - 1;

// Recorded usage of one resource, by recorded task.
struct Series {
  double unit = 1;  // unit of the numbers below, in cores or bytes
  size_t windows = 0;
  std::vector<uint16_t> usage;  // usage by task and window
  std::vector<uint32_t> limit;  // limit by task, in units; a window sums the limits of its measured tasks
  std::vector<uint32_t> samples;

  std::span<const uint16_t> of(uint32_t task) const {
    return std::span(usage).subspan(size_t{task} * windows, windows);
  }
};

// A predictor of one resource, and the figures of each task whose sums over a machine are the predictor's input.
struct Predictor {
  std::unique_ptr<brain::SummedPeak> peak;
  size_t parts = 0;  // number of predictors in SummedPeak::alone()
  // Figures by recorded task. own: figures of SummedPeak::Own(). alone: predictions of the predictors that
  // SummedPeak::alone() names.
  std::vector<double> own, alone;
  // Predictors that compute `alone` while the trace is read.
  std::vector<std::unique_ptr<brain::PeakPredictor>> of_tasks;
};

// Histories that all predictors of one call share.
struct Histories {
  RecordedTasks recorded;
  WindowId last;  // newest window of the histories
  size_t resources = 0;
  PerResource<Series> series;
};

// Load of a packing's machines under one predictor.
class SummedLoad final : public brain::MachineLoad {
 public:
  SummedLoad(const Histories& histories, const PerResource<Predictor>& predictors,
             const brain::CellIndex& index, size_t machines)
      : histories_(histories), predictors_(predictors), index_(index), machines_(machines) {
    for (uint32_t j = 0; j < index.model().jobs.size(); ++j) {
      const RecordedTasks::Range range = histories.recorded.Of(index.model().jobs[j].name);
      for (uint32_t i = 0; i < index.model().jobs[j].tasks; ++i)
        numbers_.push_back(range.count == 0 ? RecordedTasks::kNone : range.first + i % range.count);
    }
  }

  size_t resources() const override { return histories_.resources; }
  void Add(uint32_t task, uint32_t machine) override { Change<1>(task, machine); }
  void Remove(uint32_t task, uint32_t machine) override { Change<-1>(task, machine); }
  brain::CellAmounts Peak(uint32_t machine) override {
    brain::CellAmounts out = {};
    for (size_t r = 0; r < histories_.resources; ++r) out[r] = PeakOf(r, machines_[machine].of[r]);
    return out;
  }
  brain::CellAmounts PeakWith(uint32_t task, uint32_t machine) override {
    brain::CellAmounts out = {};
    for (size_t r = 0; r < histories_.resources; ++r) {
      scratch_ = machines_[machine].of[r];
      ChangeOne<1>(r, task, scratch_);
      out[r] = PeakOf(r, scratch_);
    }
    return out;
  }

 private:
  struct Sums {
    std::vector<uint32_t> usage, limit;  // sums by window; empty if no task has a history
    // Sums of the limits of tasks with enough history, and of tasks with too little history, in the cell's unit.
    int64_t warm = 0, cold = 0;
    std::vector<double> own, alone;
    int64_t reserved = 0;  // sum of the reservations of tasks without history, in the cell's unit
  };
  struct Machine {
    PerResource<Sums> of;
  };

  template <int kSign>
  void Change(uint32_t task, uint32_t machine) {
    for (size_t r = 0; r < histories_.resources; ++r) ChangeOne<kSign>(r, task, machines_[machine].of[r]);
  }

  template <int kSign>
  void ChangeOne(size_t r, uint32_t task, Sums& sums) const {
    const uint32_t number = numbers_[task];
    if (number == RecordedTasks::kNone) {
      sums.reserved += kSign * index_.class_of(index_.job_of(task)).reservation[r];
      return;
    }
    const Series& series = histories_.series[r];
    const Predictor& predictor = predictors_[r];
    const size_t alone = predictor.parts, own = predictor.peak->own();
    sums.alone.resize(alone);
    for (size_t i = 0; i < alone; ++i) sums.alone[i] += kSign * predictor.alone[number * alone + i];
    const int64_t whole_limit = index_.class_of(index_.job_of(task)).limit[r];
    if (series.samples[number] < predictor.peak->min_samples()) {
      sums.cold += kSign * whole_limit;
      return;
    }
    sums.warm += kSign * whole_limit;
    sums.own.resize(own);
    for (size_t i = 0; i < own; ++i) sums.own[i] += kSign * predictor.own[number * own + i];
    const size_t windows = std::min(series.windows, predictor.peak->windows(histories_.last));
    const std::span<const uint16_t> usage = series.of(number).last(windows);
    sums.usage.resize(windows);
    sums.limit.resize(windows);
    const uint32_t limit = series.limit[number];
    for (size_t w = 0; w < windows; ++w) {
      const bool measured = usage[w] != brain::TaskSeries16::kNotMeasured;
      // Unsigned wrap-around is exact, because each subtracted amount was added before.
      sums.usage[w] += static_cast<uint32_t>(kSign) * (measured ? usage[w] : 0U);
      sums.limit[w] += static_cast<uint32_t>(kSign) * (measured ? limit : 0U);
    }
  }

  int64_t PeakOf(size_t r, const Sums& sums) const {
    own_.assign(sums.own.begin(), sums.own.end());
    own_.resize(predictors_[r].peak->own());
    const double unit = histories_.series[r].unit, whole = unit * CellUnitsOf(kResources[r]);
    const brain::SummedTasks tasks{.usage = sums.usage,
                                   .limit = sums.limit,
                                   .warm = static_cast<double>(sums.warm) / whole,
                                   .cold = static_cast<double>(sums.cold) / whole,
                                   .own = own_,
                                   .alone = sums.alone};
    const double peak = predictors_[r].peak->Peak(histories_.last, tasks) * unit;
    return CellAmountOf(kResources[r], peak) + sums.reserved;
  }

  const Histories& histories_;
  const PerResource<Predictor>& predictors_;
  const brain::CellIndex& index_;
  std::vector<uint32_t> numbers_;  // recorded task of each task of the cell
  std::vector<Machine> machines_;
  Sums scratch_;
  mutable std::vector<double> own_;
};

class SummedLoads final : public brain::MachineLoads {
 public:
  SummedLoads(std::shared_ptr<const Histories> histories, PerResource<Predictor> predictors)
      : histories_(std::move(histories)), predictors_(std::move(predictors)) {}
  std::unique_ptr<brain::MachineLoad> New(const brain::CellIndex& index, size_t machines) const override {
    return std::make_unique<SummedLoad>(*histories_, predictors_, index, machines);
  }

 private:
  const std::shared_ptr<const Histories> histories_;
  const PerResource<Predictor> predictors_;
};

// Usage of one task in one window.
struct Seen {
  WindowId window;
  uint64_t task = 0;  // job << 32 | task
  float usage = 0, limit = 0;
};

// Machines to which the cell's tasks are assigned at random, for predictors that learn from a cell.
class LearningMachines {
 public:
  LearningMachines(size_t tasks, uint64_t seed)
      : rng_(seed),
        each_(static_cast<uint32_t>(std::max(2.0, std::round(static_cast<double>(tasks) / kMadeTasks)))),
        machines_(size_t{kMadePlacements} * each_) {}

  // Observes all tasks of one window. A task without a measurement stays on its machine for an hour, as on
  // recorded machines.
  void Take(std::span<const Seen> window, std::span<brain::SummedPeak* const> learners) {
    const WindowId now = window.front().window;
    for (const Seen& s : window) {
      for (uint32_t p = 0; p < kMadePlacements; ++p) {
        const auto m = static_cast<uint32_t>(rng_.Fork(p).Fork(s.task).Below(each_));
        machines_[size_t{p} * each_ + m][s.task] = s;
      }
    }
    for (uint32_t m = 0; m < machines_.size(); ++m) {
      std::erase_if(machines_[m], [&](const auto& one) {
        return now.index - one.second.window.index > brain::RecordedMachines::kLongestGap;
      });
      if (machines_[m].empty()) continue;
      loads_.clear();
      for (const auto& [task, s] : machines_[m])
        loads_.push_back({task, s.window == now ? s.usage : -1.0F, s.limit});
      for (brain::SummedPeak* learner : learners) learner->Observe(now, m, brain::Sum(loads_));
    }
    for (brain::SummedPeak* learner : learners) learner->EndWindow(now);
  }

 private:
  const Rng rng_;
  const uint32_t each_;
  std::vector<std::map<uint64_t, Seen>> machines_;
  std::vector<brain::TaskLoad> loads_;
};

// Reads the histories of one resource for all predictors.
class HistoryReader {
 public:
  HistoryReader(const brain::CellModel& cell, Resource resource, const MachineHistoriesOptions& options,
                const Histories& histories, std::vector<Predictor>& predictors)
      : cell_(cell),
        resource_(resource),
        until_(options.until),
        histories_(histories),
        predictors_(predictors),
        learning_(histories.recorded.size(), options.seed) {
    for (const brain::CellJob& job : cell.jobs)
      rows_[job.name] = static_cast<uint32_t>(&job - cell.jobs.data());
    for (Predictor& p : predictors) {
      windows_ = std::max(windows_, p.peak->windows(histories.last));
      if (p.peak->learns()) learners_.push_back(p.peak.get());
    }
    usage_.assign(histories.recorded.size() * windows_, -1);
    samples_.resize(histories.recorded.size());
  }

  absl::Status Read(DaySource& source, const MachineHistoriesHooks& hooks) {
    return ForEachDay(source, hooks.should_stop, hooks.on_progress, StrCat("histories of ", Name(resource_)),
                      [&](const std::vector<JobDay>& jobs) {
                        seen_.clear();
                        for (const JobDay& job : jobs) Gather(source.jobs()[job.job.value].name, job);
                        TakeDay();
                      });
  }

  Series Finish() {
    Series out;
    out.windows = windows_;
    double usage = 0, limit = 0;
    for (const float u : usage_) usage = std::max<double>(usage, u);
    for (uint32_t t = 0; t < samples_.size(); ++t) limit = std::max(limit, LimitOf(t));
    out.unit = std::max(usage / kMostUsage, limit / kMostLimit);
    if (out.unit <= 0) out.unit = 1;
    for (uint32_t t = 0; t < samples_.size(); ++t)
      out.limit.push_back(static_cast<uint32_t>(std::lround(LimitOf(t) / out.unit)));
    out.usage.reserve(usage_.size());
    for (const float u : usage_)
      out.usage.push_back(u < 0 ? brain::TaskSeries16::kNotMeasured
                                : static_cast<uint16_t>(std::min(kMostUsage, std::round(u / out.unit))));
    usage_ = {};
    out.samples = std::move(samples_);
    for (Predictor& p : predictors_) FinishOne(out, p);
    return out;
  }

 private:
  double LimitOf(uint32_t number) const {
    return CellLimitOf(cell_.jobs[histories_.recorded.row(number)], resource_);
  }

  void Gather(const std::string& name, const JobDay& day) {
    const auto row = rows_.find(name);
    if (row == rows_.end()) return;
    const auto see = [&](WindowId window, uint32_t task, float usage, float limit) {
      seen_.push_back({window, uint64_t{day.job.value} << 32U | task, usage, limit});
    };
    ForEachMeasured(day, resource_, cell_.jobs[row->second], see);
  }

  void TakeDay() {
    std::ranges::stable_sort(seen_, {}, &Seen::window);
    for (size_t i = 0, end = 0; i < seen_.size(); i = end) {
      while (end < seen_.size() && seen_[end].window == seen_[i].window) ++end;
      const std::span<const Seen> window = std::span(seen_).subspan(i, end - i);
      for (const Seen& s : window) Keep(s);
      for (Predictor& p : predictors_) {
        for (const auto& of_task : p.of_tasks) of_task->EndWindow(seen_[i].window);
      }
      if (!learners_.empty()) learning_.Take(window, learners_);
    }
  }

  void Keep(const Seen& s) {
    const uint32_t number =
        histories_.recorded.NumberOf({static_cast<uint32_t>(s.task >> 32U)}, static_cast<uint32_t>(s.task));
    if (number == RecordedTasks::kNone) return;
    ++samples_[number];
    const brain::TaskLoad load{s.task, s.usage, s.limit};
    for (Predictor& p : predictors_) {
      for (const auto& of_task : p.of_tasks) of_task->Observe(s.window, number, brain::Sum({&load, 1}));
    }
    const int64_t at = int64_t{s.window.index} - until_.index + static_cast<int64_t>(windows_);
    if (at < 0) return;
    usage_[size_t{number} * windows_ + static_cast<size_t>(at)] =
        std::min(load.capped(), static_cast<float>(LimitOf(number)));
  }

  // Computes the figures of each task that the predictor adds up. Rounds them to whole units, so that Remove()
  // undoes Add() exactly, unlike with sums of rounded doubles.
  void FinishOne(const Series& series, Predictor& p) const {
    const size_t own = p.peak->own(), tasks = series.samples.size();
    p.own.resize(tasks * own);
    for (uint32_t t = 0; t < tasks; ++t) {
      const brain::TaskSeries16 task{.usage = series.of(t)};
      p.peak->Own(histories_.last, task, std::span(p.own).subspan(t * own, own));
      for (const auto& of_task : p.of_tasks) p.alone.push_back(std::ceil(of_task->Predict(t) / series.unit));
    }
    p.of_tasks.clear();
  }

  const brain::CellModel& cell_;
  const Resource resource_;
  const WindowId until_;
  const Histories& histories_;
  std::vector<Predictor>& predictors_;
  absl::flat_hash_map<std::string_view, uint32_t> rows_;
  LearningMachines learning_;
  std::vector<brain::SummedPeak*> learners_;
  size_t windows_ = 1;
  std::vector<float> usage_;  // usage by recorded task and window; negative: not measured
  std::vector<uint32_t> samples_;
  std::vector<Seen> seen_;  // usage of the day that is being read
};

absl::StatusOr<std::vector<Predictor>> MakeSummed(const MachineHistoriesOptions& options) {
  std::vector<Predictor> out;
  for (const std::string& spec : options.predictors) {
    auto made = brain::NewSummedPeak(spec, options.overcommit);
    if (!made.ok()) return made.status();
    Predictor& p = out.emplace_back();
    p.peak = *std::move(made);
    for (const std::string& name : p.peak->alone()) {
      auto of_task = brain::NewPeakPredictor(name, options.overcommit);
      if (!of_task.ok()) return of_task.status();
      p.of_tasks.push_back(*std::move(of_task));
      ++p.parts;
    }
  }
  return out;
}

}  // namespace

absl::StatusOr<std::vector<WholeMachines>> ReplayMachineHistories(DaySource& source,
                                                                  const brain::CellModel& cell,
                                                                  const MachineHistoriesOptions& options,
                                                                  const MachineHistoriesHooks& hooks) {
  std::vector<std::vector<Predictor>> made;
  SourceUntil until(source, options.until);
  auto histories = std::make_shared<Histories>();
  absl::StatusOr<RecordedTasks> recorded = ReadRecordedTasks(source, cell, options.until);
  if (!recorded.ok()) return recorded.status();
  histories->recorded = *std::move(recorded);
  histories->last = {options.until.index - 1};
  histories->resources = std::min<size_t>(2, cell.resources.size());
  for (size_t r = 0; r < histories->resources; ++r) {
    absl::StatusOr<std::vector<Predictor>> predictors = MakeSummed(options);
    if (!predictors.ok()) return predictors.status();
    made.push_back(*std::move(predictors));
    HistoryReader reader(cell, kResources[r], options, *histories, made.back());
    if (absl::Status s = reader.Read(until, hooks); !s.ok()) return s;
    histories->series[r] = reader.Finish();
  }
  std::vector<WholeMachines> out;
  for (size_t p = 0; p < options.predictors.size(); ++p) {
    WholeMachines& one = out.emplace_back();
    PerResource<Predictor> both;
    for (size_t r = 0; r < histories->resources; ++r) {
      const std::string lacks = made[r][p].peak->Lacks();
      if (one.lacks.empty() && !lacks.empty()) one.lacks = StrCat(Name(kResources[r]), ": ", lacks);
      one.bytes_a_task += histories->series[r].windows * sizeof(uint16_t);
      both[r] = std::move(made[r][p]);
    }
    one.loads = std::make_shared<SummedLoads>(histories, std::move(both));
  }
  return out;
}

}  // namespace taut::tools
