#include "tools/sim/recorded_soft_memory.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "brain/overcommit/soft_memory.h"
#include "common/base/random.h"
#include "tools/sim/machine_days.h"
#include "tools/sim/placed_tasks.h"
#include "tools/sim/recorded_counts.h"
#include "tools/sim/soft_requests.h"

namespace taut::tools {
namespace {

// All machines of the trace under one kind of memory limits.
struct RecordedWorld {
  SoftMemoryScore score;
  // Predictor of the memory; null: hard limits, or the oracle
  const brain::PeakPredictor* predictor = nullptr;
  std::vector<double> memory;  // memory by machine; unused with hard limits
  std::vector<uint8_t> full;   // 1 if a task was killed in this horizon, by machine
  std::vector<double> used;    // usage in the previous window, excluding killed tasks, by machine
  absl::flat_hash_map<uint64_t, int32_t> waiting;  // first window in which a killed task may restart, by task

  bool hard() const { return score.world == kHardLimits; }
};

class RecordedSoftReplay {
 public:
  RecordedSoftReplay(DaySource& source, const brain::RecordedMachines& machines,
                     const SoftMemoryOptions& options, const SoftMemoryHooks& hooks)
      : source_(source),
        machines_(machines),
        options_(options),
        hooks_(hooks),
        days_(machines, Resource::kMemory),
        counts_(source, machines, Resource::kMemory),
        horizon_(static_cast<int32_t>(options.machines.horizon_s() / kWindowSeconds)),
        warmup_(static_cast<int32_t>(options.machines.warmup_s / kWindowSeconds)),
        requests_(source.jobs().size()),
        hard_limits_(source.jobs().size()),
        before_(machines.size()),
        arrived_(machines.size()),
        changed_(machines.size()),
        begun_(machines.size()),
        seen_(machines.size()) {}

  absl::Status Prepare() {
    const absl::StatusOr<size_t> span = SpanOfDays(source_.days());
    if (!span.ok()) return span.status();
    const size_t days = *span;
    if (absl::Status s = CheckOvercommitTimes(days * kWindowsPerDay, options_.machines); !s.ok()) return s;
    absl::StatusOr<std::vector<std::unique_ptr<brain::PeakPredictor>>> made =
        MakePredictors(options_.machines);
    if (!made.ok()) return made.status();
    predictors_ = *std::move(made);
    for (const auto& [limits, feedback] :
         {std::pair{&requests_, Feedback::kNone}, std::pair{&hard_limits_, Feedback::kOomRestart}}) {
      absl::StatusOr<JobLimits> ordered = ReplayJobLimits(source_, options_, feedback, hooks_);
      if (!ordered.ok()) return ordered.status();
      *limits = *std::move(ordered);
    }
    tiers_of_jobs_ = TiersOfJobs(source_, options_);
    AddWorld(kHardLimits, nullptr);
    for (size_t i = 0; i < predictors_.size(); ++i)
      AddWorld(options_.machines.predictors[i], predictors_[i].get());
    result_.of_recorded = true;
    return absl::OkStatus();
  }

  absl::StatusOr<SoftMemoryResult> Run() {
    at_ = source_.days().front() * kWindowsPerDay;
    const auto on_progress = [this](double share) {
      if (hooks_.on_progress) hooks_.on_progress("soft limits", share);
    };
    const absl::StatusOr<bool> whole = days_.Read(source_, on_progress, hooks_.should_stop,
                                                  [this] { Advance(days_.final_until() - horizon_); });
    if (!whole.ok()) return whole.status();
    if (!*whole) {
      result_.partial = true;
      return Finish();
    }
    int32_t end = days_.final_until();
    while (end > at_ && !days_.Any(end - 1)) --end;
    Advance(end);
    return Finish();
  }

 private:
  void AddWorld(std::string_view name, const brain::PeakPredictor* predictor) {
    RecordedWorld& world = worlds_.emplace_back();
    world.score.world = name;
    world.predictor = predictor;
    world.memory.resize(machines_.size());
    world.full.resize(machines_.size());
    world.used.resize(machines_.size());
  }

  // Steps the windows before `end`. REQUIRES: the horizons of these windows are final, or the input has ended.
  void Advance(int32_t end) {
    for (; at_ < end; ++at_) {
      if (!any_ && !days_.Any(at_)) continue;
      if (!std::exchange(any_, true)) first_ = at_;
      const int32_t since = at_ - first_;
      Compare();
      if (since >= warmup_) {
        if ((since - warmup_) % horizon_ == 0) BeginHorizon();
        for (RecordedWorld& world : worlds_) Step(world);
      }
      Observe();
      days_.DropBefore(at_);
    }
  }

  // Compares each machine with the previous window. Records whether its tasks changed, and the sum of the limits
  // of arrived tasks.
  void Compare() {
    for (uint32_t m = 0; m < machines_.size(); ++m) {
      const std::span<const brain::TaskLoad> tasks = days_.Tasks(at_, m);
      arrived_[m] = 0;
      auto old = before_[m].begin();
      size_t stayed = 0;
      for (const brain::TaskLoad& t : tasks) {
        while (old != before_[m].end() && *old < t.task) ++old;
        if (old != before_[m].end() && *old == t.task) {
          ++stayed;
        } else {
          arrived_[m] += t.limit;
        }
      }
      changed_[m] = stayed == tasks.size() && stayed == before_[m].size() ? 0 : 1;
    }
  }

  void BeginHorizon() {
    horizon_end_ = at_ + horizon_;
    std::ranges::fill(begun_, 0);
    for (RecordedWorld& world : worlds_) {
      CloseHorizon(world);
      // Remove waiting tasks that ended in the trace and never restart. Otherwise the map would grow without
      // bound.
      absl::erase_if(world.waiting, [&](const auto& one) { return one.second + horizon_ < at_; });
    }
  }

  static void CloseHorizon(RecordedWorld& world) {
    world.score.full += static_cast<uint64_t>(std::ranges::count(world.full, 1));
    std::ranges::fill(world.full, 0);
  }

  void Step(RecordedWorld& world) {
    for (uint32_t m = 0; m < machines_.size(); ++m) {
      const std::span<const brain::TaskLoad> tasks = days_.Tasks(at_, m);
      if (tasks.empty()) {
        world.used[m] = 0;
        continue;
      }
      // Every world counts this machine's horizon once. Only the last world sets the flag, so that every world
      // reads the flag unset.
      const bool first = begun_[m] == 0;
      if (first) {
        ++world.score.horizons;
        if (&world == &worlds_.back()) begun_[m] = 1;
      }
      if (!world.hard() && (first || changed_[m] != 0)) world.memory[m] = MemoryOf(m, tasks, world);
      StepMachine(m, tasks, world);
    }
  }

  double MemoryOf(uint32_t m, std::span<const brain::TaskLoad> tasks, const RecordedWorld& world) const {
    if (world.predictor == nullptr) return PeakOf(m);
    double limit = 0;
    for (const brain::TaskLoad& t : tasks) limit += t.limit;
    const double known = before_[m].empty() ? 0 : world.predictor->Predict(m);
    return std::min(limit, known + arrived_[m]);
  }

  double PeakOf(uint32_t m) const {
    double peak = 0;
    for (int32_t w = at_; w < horizon_end_; ++w) {
      double usage = 0;
      for (const brain::TaskLoad& t : days_.Tasks(w, m)) usage += std::max(0.F, t.usage);
      peak = std::max(peak, usage);
    }
    return peak;
  }

  float RequestOf(const brain::TaskLoad& t, const RecordedWorld& world) const {
    const JobLimits& limits = world.hard() ? hard_limits_ : requests_;
    return limits.At({static_cast<uint32_t>(t.task >> 32U)}, {at_}).value_or(t.limit);
  }

  void StepMachine(uint32_t m, std::span<const brain::TaskLoad> tasks, RecordedWorld& world) {
    double memory = world.memory[m];
    if (const brain::MachineCapacity* c = counts_.Capacity(m, at_); c != nullptr)
      memory = std::min(memory, c->memory_bytes);
    asked_.clear();
    for (const brain::TaskLoad& t : tasks) asked_.push_back(RequestOf(t, world));
    Restart(m, tasks, memory, world);
    running_.clear();
    double used = 0, limits = 0;
    for (size_t k = 0; k < tasks.size(); ++k) {
      const TraceTier tier = TierOfTask(tasks[k].task);
      const bool measured = tasks[k].measured(), runs = measured && !world.waiting.contains(tasks[k].task);
      running_.push_back({static_cast<int>(tier), runs ? tasks[k].usage : 0, asked_[k]});
      used += running_.back().usage;
      limits += asked_[k];
      world.score.owner += tasks[k].limit;
      SoftMemoryScore::Tier& score = world.score.tiers[static_cast<size_t>(tier)];
      score.task_windows += runs ? 1 : 0;
      score.lost_windows += measured && !runs ? 1 : 0;
    }
    if (world.hard()) memory = limits;
    world.score.memory += memory;
    world.used[m] = used;
    if (!world.hard()) {
      for (const uint32_t k : brain::FindVictims(running_, memory)) Kill(m, k, tasks[k], memory, world);
      return;
    }
    for (uint32_t k = 0; k < running_.size(); ++k) {
      if (running_[k].usage > running_[k].request) Kill(m, k, tasks[k], memory, world);
    }
  }

  // Restarts killed tasks after their delay, highest tier first. With soft limits, a task restarts only if the
  // machine has room.
  void Restart(uint32_t m, std::span<const brain::TaskLoad> tasks, double memory, RecordedWorld& world) {
    if (world.waiting.empty()) return;
    again_.clear();
    for (uint32_t k = 0; k < tasks.size(); ++k) {
      const auto it = world.waiting.find(tasks[k].task);
      if (it != world.waiting.end() && it->second <= at_) again_.push_back(k);
    }
    std::ranges::stable_sort(again_, std::greater<>(), [&](uint32_t k) { return TierOfTask(tasks[k].task); });
    double used = world.used[m];
    for (const uint32_t k : again_) {
      if (!world.hard() && used + asked_[k] > memory) {
        // The task still waits: store a recent window, so that BeginHorizon() does not remove the task.
        world.waiting[tasks[k].task] = at_;
        continue;
      }
      used += asked_[k];
      world.waiting.erase(tasks[k].task);
    }
  }

  void Kill(uint32_t m, uint32_t k, const brain::TaskLoad& task, double memory, RecordedWorld& world) {
    const auto away = static_cast<int32_t>((options_.restart_s + kWindowSeconds - 1) / kWindowSeconds);
    world.waiting[task.task] = at_ + 1 + away;
    world.full[m] = 1;
    const TraceTier tier = TierOfTask(task.task);
    SoftMemoryScore::Tier& score = world.score.tiers[static_cast<size_t>(tier)];
    ++score.kills;
    if (running_[k].usage <= running_[k].request) ++score.within_request;
    if (!hooks_.on_kill) return;
    const std::string name =
        source_.jobs()[task.task >> 32U].name + "/" + std::to_string(static_cast<uint32_t>(task.task));
    hooks_.on_kill({.world = world.score.world,
                    .task = name,
                    .time_s = int64_t{at_} * kWindowSeconds,
                    .placement = 0,
                    .machine = m,
                    .tier = tier,
                    .usage = running_[k].usage,
                    .request = running_[k].request,
                    .machine_usage = world.used[m],
                    .machine_memory = memory,
                    .machine_name = machines_.name(m)});
  }

  // Returns the tier of the job's priority, or draws a tier. A drawn tier depends only on the seed and the task,
  // so it is equal in all worlds and windows.
  TraceTier TierOfTask(uint64_t task) {
    const TraceTier own = tiers_of_jobs_[task >> 32U];
    const auto [it, added] = tiers_.try_emplace(task, own);
    if (!added) return it->second;
    if (own == TraceTier::kUnknown) {
      result_.made_tiers = true;
      const double at = Rng(options_.machines.seed).Fork(task).Uniform();
      double sum = 0;
      for (size_t t = 0; t < kNumTraceTiers; ++t) {
        sum += options_.shares[t];
        if (options_.shares[t] > 0) it->second = static_cast<TraceTier>(t);
        if (at < sum) break;
      }
    }
    ++result_.tier_tasks[static_cast<size_t>(it->second)];
    return it->second;
  }

  void Observe() {
    for (uint32_t m = 0; m < machines_.size(); ++m) {
      const std::span<const brain::TaskLoad> tasks = days_.Tasks(at_, m);
      before_[m].clear();
      if (tasks.empty()) continue;
      seen_[m] = 1;
      for (const brain::TaskLoad& t : tasks) before_[m].push_back(t.task);
      const brain::MachineWindow sums = Sum(tasks);
      for (const auto& p : predictors_) {
        if (p != nullptr) p->Observe({at_}, m, sums);
      }
      counts_.Count(m, at_, tasks, sums);
    }
    for (const auto& p : predictors_) {
      if (p != nullptr) p->EndWindow({at_});
    }
  }

  absl::StatusOr<SoftMemoryResult> Finish() {
    absl::StatusOr<RecordedUse> use = counts_.Take(days_, !result_.partial);
    if (!use.ok()) return use.status();
    result_.recorded = *std::move(use);
    result_.tasks = counts_.tasks();
    result_.machines = static_cast<size_t>(std::ranges::count(seen_, 1));
    for (RecordedWorld& world : worlds_) {
      CloseHorizon(world);
      result_.worlds.push_back(std::move(world.score));
    }
    return std::move(result_);
  }

  DaySource& source_;
  const brain::RecordedMachines& machines_;
  const SoftMemoryOptions& options_;
  const SoftMemoryHooks& hooks_;
  MachineDays days_;
  RecordedCounts counts_;
  const int32_t horizon_, warmup_;
  JobLimits requests_, hard_limits_;
  std::vector<TraceTier> tiers_of_jobs_;
  absl::flat_hash_map<uint64_t, TraceTier> tiers_;  // tiers of the scored tasks
  std::vector<std::unique_ptr<brain::PeakPredictor>> predictors_;
  std::vector<RecordedWorld> worlds_;
  int32_t at_ = 0, first_ = 0, horizon_end_ = 0;
  bool any_ = false;
  // Vectors by machine. before_: tasks of the previous window. arrived_: sum of the limits of tasks that arrived
  // since then. changed_: 1 if the tasks changed. begun_: 1 if the machine had tasks in this horizon. seen_: 1 if
  // the machine ever had tasks.
  std::vector<std::vector<uint64_t>> before_;
  std::vector<double> arrived_;
  std::vector<uint8_t> changed_, begun_, seen_;
  std::vector<brain::SoftTask> running_;  // tasks of the machine that is being stepped
  std::vector<float> asked_;
  std::vector<uint32_t> again_;
  SoftMemoryResult result_;
};

}  // namespace

absl::StatusOr<SoftMemoryResult> ReplayRecordedSoftMemory(DaySource& source,
                                                          const brain::RecordedMachines& machines,
                                                          const SoftMemoryOptions& options,
                                                          const SoftMemoryHooks& hooks) {
  if (absl::Status s = CheckTierShares(options); !s.ok()) return s;
  RecordedSoftReplay replay(source, machines, options, hooks);
  if (absl::Status s = replay.Prepare(); absl::IsCancelled(s)) {
    SoftMemoryResult none;
    none.partial = none.of_recorded = true;
    return none;
  } else if (!s.ok()) {
    return s;
  }
  return replay.Run();
}

}  // namespace taut::tools
