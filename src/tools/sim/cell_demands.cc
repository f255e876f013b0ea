#include "tools/sim/cell_demands.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "brain/overcommit/predictors.h"
#include "common/base/strings.h"
#include "tools/sim/machine_histories.h"
#include "tools/sim/recorded_tasks.h"
#include "tools/sim/trace_tier.h"

namespace taut::tools {
namespace {

constexpr size_t kNamed = 3;  // maximum number of kept jobs listed by name
// A task without a measurement for this number of windows has ended.
constexpr int32_t kPresence = kWindowsPerHour;
constexpr uint32_t kNotOfCell = UINT32_MAX;

// Returns the row in the cell for each job of the source; kNotOfCell if the cell lacks the job.
std::vector<uint32_t> RowsOfCell(const DaySource& source, const brain::CellModel& cell) {
  absl::flat_hash_map<std::string_view, uint32_t> rows;
  for (uint32_t j = 0; j < cell.jobs.size(); ++j) rows[cell.jobs[j].name] = j;
  std::vector<uint32_t> out;
  for (const JobInfo& job : source.jobs()) {
    const auto it = rows.find(job.name);
    out.push_back(it == rows.end() ? kNotOfCell : it->second);
  }
  return out;
}

// Counts the cell's jobs for which the demand lacks all amounts, or the amount of one resource.
void CountKept(const brain::CellModel& cell, CellDemand& demand) {
  std::vector<std::string> partly;
  for (const brain::CellJob& job : cell.jobs) {
    const auto it = demand.amounts.find(job.name);
    if (it == demand.amounts.end()) {
      ++demand.kept_jobs;
      demand.kept_tasks += job.tasks;
      if (demand.kept.size() < kNamed) demand.kept.push_back(job.name);
      continue;
    }
    const bool all = std::ranges::all_of(kResources, [&](Resource r) {
      return CellRowOf(r) >= cell.resources.size() || job.limit[CellRowOf(r)] == 0 ||
             it->second[CellRowOf(r)].has_value();
    });
    if (all) continue;
    ++demand.partly_jobs;
    partly.push_back(job.name);
  }
  for (std::string& name : partly) {
    if (demand.kept.size() < kNamed) demand.kept.push_back(std::move(name));
  }
}

absl::Status ReplayLimits(DaySource& source, const brain::CellModel& cell, const CellDemandsOptions& options,
                          const CellDemandsHooks& hooks, CellDemands& out) {
  const std::vector<uint32_t> rows = RowsOfCell(source, cell);
  ReplayOptions replay = options.replay;
  replay.managed.reset();
  replay.resources = {kResources[0], kResources[1]};
  for (const brain::PolicyPair policy : replay.policies) {
    CellDemand& demand = out.all.emplace_back();
    demand.of = Name(policy);
    demand.name = StrCat("limits:", demand.of);
    demand.is_limits = true;
  }
  ReplayHooks own;
  own.on_change = [&](const LimitChange& change) {
    const uint32_t row = rows[change.job.value];
    const size_t amount = CellRowOf(change.resource);
    if (row == kNotOfCell || amount >= cell.resources.size()) return absl::OkStatus();
    const auto policy = std::ranges::find(replay.policies, change.policy) - replay.policies.begin();
    std::optional<int64_t>& limit = out.all[static_cast<size_t>(policy)].amounts[cell.jobs[row].name][amount];
    limit.reset();  // an unlimited job keeps the limit of the cell
    if (change.limit.has_value()) limit = CellAmountOf(change.resource, *change.limit);
    return absl::OkStatus();
  };
  own.on_progress = [&](uint64_t done, uint64_t total, uint64_t /*windows*/) {
    if (hooks.on_progress)
      hooks.on_progress("recommenders", static_cast<double>(done) / static_cast<double>(total));
  };
  own.should_stop = hooks.should_stop;
  const absl::StatusOr<ReplayResult> result = Replay(source, replay, own);
  if (!result.ok()) return result.status();
  if (result->partial) return absl::CancelledError("interrupted: there is no result");
  for (const LaneResult& lane : result->lanes) {
    const auto policy = std::ranges::find(replay.policies, lane.policy) - replay.policies.begin();
    const Totals& totals = lane.summary.totals;
    if (totals.job_days == 0) continue;
    out.all[static_cast<size_t>(policy)].over_days[static_cast<size_t>(lane.resource)] =
        totals.oom_day_share();
  }
  for (CellDemand& demand : out.all) {
    absl::erase_if(demand.amounts, [](const auto& job) {
      return std::ranges::none_of(job.second, [](const auto& a) { return a.has_value(); });
    });
  }
  return absl::OkStatus();
}

// Predicts the peak of each task of the cell as if the task were alone on a machine, for one resource.
class TaskPredictions {
 public:
  TaskPredictions(const brain::CellModel& cell, Resource resource, std::vector<uint32_t> rows)
      : cell_(cell), resource_(resource), amount_(CellRowOf(resource)), rows_(std::move(rows)) {}

  absl::Status Make(const CellDemandsOptions& options) {
    for (const std::string& spec : options.predictors) {
      auto made = brain::NewPeakPredictor(spec, options.overcommit);
      if (!made.ok()) return made.status();
      predictors_.push_back(*std::move(made));
    }
    return absl::OkStatus();
  }

  void Take(const std::vector<JobDay>& jobs) {
    loads_.clear();
    for (const JobDay& day : jobs) {
      const uint32_t row = rows_[day.job.value];
      if (row != kNotOfCell) Gather(day, row);
    }
    std::ranges::stable_sort(loads_, {}, &Load::window);
    for (size_t i = 0; i < loads_.size(); ++i) {
      const Load& load = loads_[i];
      for (const auto& p : predictors_) p->Observe(load.window, load.number, brain::Sum({&load.load, 1}));
      if (i + 1 < loads_.size() && loads_[i + 1].window == load.window) continue;
      for (const auto& p : predictors_) p->EndWindow(load.window);
    }
  }

  // Stores the reservations of predictor number `predictor` in `amounts`.
  void Finish(size_t predictor, brain::JobAmounts& amounts) const {
    struct Mean {
      WindowId last{INT32_MIN};
      double sum = 0;
      uint32_t tasks = 0;
    };
    std::vector<Mean> means(cell_.jobs.size());
    for (const Task& task : tasks_) means[task.row].last = std::max(means[task.row].last, task.last);
    for (uint32_t number = 0; number < tasks_.size(); ++number) {
      Mean& mean = means[tasks_[number].row];
      // Skip a task without usage in the job's last hour: it has ended, and its prediction is outdated.
      if (tasks_[number].last.index <= mean.last.index - kPresence) continue;
      mean.sum += predictors_[predictor]->Predict(number);
      ++mean.tasks;
    }
    for (size_t j = 0; j < means.size(); ++j) {
      if (means[j].tasks == 0) continue;
      const brain::CellJob& job = cell_.jobs[j];
      amounts[job.name][amount_] =
          std::min(job.limit[amount_], CellAmountOf(resource_, means[j].sum / means[j].tasks));
    }
  }

 private:
  struct Load {
    WindowId window;
    uint32_t number = 0;
    brain::TaskLoad load;
  };
  struct Task {
    uint32_t row = 0;
    WindowId last;
  };

  void Gather(const JobDay& day, uint32_t row) {
    const auto take = [&](WindowId window, uint32_t task, float usage, float limit) {
      const auto [it, added] =
          numbers_.try_emplace(uint64_t{day.job.value} << 32U | task, static_cast<uint32_t>(tasks_.size()));
      if (added) tasks_.push_back({row, window});
      tasks_[it->second].last = window;
      loads_.push_back({window, it->second, {task, usage, limit}});
    };
    ForEachMeasured(day, resource_, cell_.jobs[row], take);
  }

  const brain::CellModel& cell_;
  const Resource resource_;
  const size_t amount_;
  const std::vector<uint32_t> rows_;  // row in the cell by job of the source
  std::vector<std::unique_ptr<brain::PeakPredictor>> predictors_;
  absl::flat_hash_map<uint64_t, uint32_t> numbers_;  // number of a task, by job and task
  std::vector<Task> tasks_;
  std::vector<Load> loads_;  // loads of the day that is being read
};

// Computes the reservations of the demands `at`. REQUIRES: the predictors of these demands add up tasks.
absl::Status ReplayReservations(DaySource& source, const brain::CellModel& cell,
                                const CellDemandsOptions& options, std::span<CellDemand* const> at,
                                const CellDemandsHooks& hooks) {
  CellDemandsOptions own = options;
  own.predictors.clear();
  for (const CellDemand* demand : at) own.predictors.push_back(demand->of);
  for (const Resource resource : kResources) {
    if (at.empty() || CellRowOf(resource) >= cell.resources.size()) continue;
    TaskPredictions predictions(cell, resource, RowsOfCell(source, cell));
    if (absl::Status s = predictions.Make(own); !s.ok()) return s;
    const absl::Status read =
        ForEachDay(source, hooks.should_stop, hooks.on_progress, StrCat("predictors of ", Name(resource)),
                   [&](const std::vector<JobDay>& jobs) { predictions.Take(jobs); });
    if (!read.ok()) return read;
    for (size_t p = 0; p < at.size(); ++p) predictions.Finish(p, at[p]->amounts);
  }
  return absl::OkStatus();
}

absl::Status ReplayWholeMachines(DaySource& source, const brain::CellModel& cell,
                                 const CellDemandsOptions& options, std::span<CellDemand* const> at,
                                 const CellDemandsHooks& hooks) {
  if (at.empty()) return absl::OkStatus();
  MachineHistoriesOptions histories{
      .predictors = {}, .overcommit = options.overcommit, .until = options.until};
  for (const CellDemand* demand : at) histories.predictors.push_back(demand->of);
  absl::StatusOr<std::vector<WholeMachines>> machines =
      ReplayMachineHistories(source, cell, histories, {hooks.on_progress, hooks.should_stop});
  if (!machines.ok()) return machines.status();
  const absl::StatusOr<RecordedTasks> recorded = ReadRecordedTasks(source, cell, options.until);
  if (!recorded.ok()) return recorded.status();
  for (size_t p = 0; p < at.size(); ++p) {
    CellDemand& demand = *at[p];
    demand.loads = std::move((*machines)[p].loads);
    demand.lacks = std::move((*machines)[p].lacks);
    for (const brain::CellJob& job : cell.jobs) {
      if (recorded->Of(job.name).count > 0) continue;
      ++demand.kept_jobs;
      demand.kept_tasks += job.tasks;
      if (demand.kept.size() < kNamed) demand.kept.push_back(job.name);
    }
  }
  return absl::OkStatus();
}

// Appends one demand per predictor, in order: reservations for a predictor that adds up tasks, loads of whole
// machines for others.
absl::Status ReplayPredictors(DaySource& source, const brain::CellModel& cell,
                              const CellDemandsOptions& options, const CellDemandsHooks& hooks,
                              CellDemands& out) {
  const size_t first = out.all.size();
  out.all.resize(first + options.predictors.size());
  std::vector<CellDemand*> sums, whole;
  for (size_t p = 0; p < options.predictors.size(); ++p) {
    const std::string& spec = options.predictors[p];
    const absl::StatusOr<bool> adds = AddsUpTasks(spec, options.overcommit);
    if (!adds.ok()) return adds.status();
    CellDemand& demand = out.all[first + p];
    demand.of = spec;
    demand.name = StrCat(*adds ? "reservations:" : "machines:", spec);
    (*adds ? sums : whole).push_back(&demand);
  }
  if (absl::Status s = ReplayReservations(source, cell, options, sums, hooks); !s.ok()) return s;
  return ReplayWholeMachines(source, cell, options, whole, hooks);
}

// Number of tasks and known limits of a job in its last window with usage.
struct FinalWindow {
  WindowId window{INT32_MIN};
  uint32_t tasks = 0;
  float cpu = kAbsent, memory = kAbsent;
};
FinalWindow LastOf(const JobDay& day) {
  FinalWindow out;
  for (const JobWindow& w : day.windows) {
    if (w.num_tasks > 0) {
      out.window = w.window;
      out.tasks = w.num_tasks;
    }
    if (w.cpu_limit_cores > 0) out.cpu = w.cpu_limit_cores;
    if (w.memory_limit_bytes > 0) out.memory = w.memory_limit_bytes;
  }
  return out;
}

brain::CellTier ToCellTier(TraceTier tier) {
  return tier == TraceTier::kUnknown ? brain::CellTier::kBatch
                                     : static_cast<brain::CellTier>(static_cast<uint8_t>(tier) - 1);
}

}  // namespace

absl::StatusOr<bool> AddsUpTasks(const std::string& spec, const brain::OvercommitSettings& settings) {
  const auto made = brain::NewPeakPredictor(spec, settings);
  if (!made.ok()) return made.status();
  return (*brain::FindPeakPredictor(Split(spec, ':')[0]))->sums_tasks;
}

absl::StatusOr<UsageSpan> SpanOf(DaySource& source) {
  if (source.days().empty()) return absl::InvalidArgumentError("the trace has no usage");
  UsageSpan out{{INT32_MAX}, {INT32_MIN}};
  const auto widen = [&](int32_t day) -> absl::Status {
    const absl::StatusOr<std::vector<JobDay>> jobs = source.LoadDay(day);
    if (!jobs.ok()) return jobs.status();
    for (const JobDay& job : *jobs) {
      if (job.windows.empty()) continue;
      out.begin = std::min(out.begin, job.windows.front().window);
      out.end = std::max(out.end, job.windows.back().window.next());
    }
    return absl::OkStatus();
  };
  // A day may contain no window, so days are read until one with a window is found.
  const std::vector<int32_t>& days = source.days();
  for (size_t i = 0; i < days.size() && out.begin.index == INT32_MAX; ++i) {
    if (absl::Status s = widen(days[i]); !s.ok()) return s;
  }
  if (out.begin.index == INT32_MAX) return absl::InvalidArgumentError("the trace has no usage");
  const WindowId end = std::exchange(out.end, {INT32_MIN});
  for (size_t i = days.size(); i > 0 && out.end.index == INT32_MIN; --i) {
    if (absl::Status s = widen(days[i - 1]); !s.ok()) return s;
  }
  out.end = std::max(out.end, end);
  return out;
}

absl::StatusOr<CellDemands> ReplayCellDemands(DaySource& source, const brain::CellModel& cell,
                                              const CellDemandsOptions& options,
                                              const CellDemandsHooks& hooks) {
  SourceUntil until(source, options.until);
  const absl::StatusOr<UsageSpan> span = SpanOf(until);
  if (!span.ok()) return span.status();
  CellDemands out;
  out.first = span->begin;
  out.last = {span->end.index - 1};
  if (!options.replay.policies.empty()) {
    if (absl::Status s = ReplayLimits(until, cell, options, hooks, out); !s.ok()) return s;
  }
  if (absl::Status s = ReplayPredictors(until, cell, options, hooks, out); !s.ok()) return s;
  for (CellDemand& demand : out.all) {
    if (demand.loads == nullptr) CountKept(cell, demand);
  }
  return out;
}

absl::StatusOr<UsageJobs> JobsOfUsage(DaySource& source, WindowId until) {
  UsageJobs out;
  SourceUntil before(source, until);
  std::vector<std::optional<int>> priorities;
  for (const JobInfo& job : source.jobs()) priorities.push_back(job.priority);
  const PriorityBands bands = BandsOf(priorities);
  std::vector<FinalWindow> last(source.jobs().size());
  for (const int32_t day : before.days()) {
    if ((day + 1) * kWindowsPerDay <= until.index - kPresence) continue;
    const absl::StatusOr<std::vector<JobDay>> jobs = before.LoadDay(day);
    if (!jobs.ok()) return jobs.status();
    for (const JobDay& job : *jobs) {
      const FinalWindow now = LastOf(job);
      FinalWindow& known = last[job.job.value];
      if (now.tasks > 0) std::tie(known.window, known.tasks) = std::tie(now.window, now.tasks);
      if (now.cpu > 0) known.cpu = now.cpu;
      if (now.memory > 0) known.memory = now.memory;
    }
  }
  for (uint32_t j = 0; j < last.size(); ++j) {
    const FinalWindow& w = last[j];
    if (w.tasks == 0 || w.window.index < until.index - kPresence) continue;
    brain::CellJob job;
    job.name = source.jobs()[j].name;
    if (w.cpu <= 0 || w.memory <= 0) {
      out.left_out.Add("job of the usage left out: no owner's limit of CPU and memory", job.name);
      continue;
    }
    job.tier = ToCellTier(TierOf(priorities[j], bands));
    job.tasks = w.tasks;
    job.limit[brain::kCellCpu] = CellAmountOf(Resource::kCpu, w.cpu);
    job.limit[brain::kCellMemory] = CellAmountOf(Resource::kMemory, w.memory);
    job.reservation = job.limit;
    out.jobs.push_back(std::move(job));
  }
  return out;
}

}  // namespace taut::tools
