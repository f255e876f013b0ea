#include "tools/sim/soft_memory_replay.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>

#include "brain/overcommit/soft_memory.h"
#include "common/base/random.h"
#include "tools/sim/soft_requests.h"

namespace taut::tools {
namespace {

using TierCounts = std::array<size_t, kNumTraceTiers>;

// Memory limits by task and window.
using Limits = std::vector<std::vector<float>>;

// Returns the limits of the recommender, and the owner's limit where there is no recommendation.
absl::StatusOr<Limits> LimitsOf(DaySource& source, const PlacedTasks& placed,
                                const SoftMemoryOptions& options, Feedback feedback,
                                const SoftMemoryHooks& hooks) {
  const absl::StatusOr<JobLimits> ordered = ReplayJobLimits(source, options, feedback, hooks);
  if (!ordered.ok()) return ordered.status();
  Limits out;
  for (const TaskSeries& task : placed.tasks) {
    std::vector<float>& limits = out.emplace_back();
    for (size_t i = 0; i < placed.windows; ++i)
      limits.push_back(
          ordered->At(task.job, {placed.first.index + static_cast<int32_t>(i)}).value_or(task.limit[i]));
  }
  return out;
}

// Returns the tier of each task, which follows from the job's priority or is drawn with the given shares.
std::vector<TraceTier> TiersOf(DaySource& source, const PlacedTasks& placed, const SoftMemoryOptions& options,
                               bool& made) {
  const std::vector<TraceTier> of_jobs = TiersOfJobs(source, options);
  std::vector<TraceTier> tiers;
  std::vector<size_t> drawn;
  for (size_t i = 0; i < placed.tasks.size(); ++i) {
    tiers.push_back(of_jobs[placed.tasks[i].job.value]);
    if (tiers.back() == TraceTier::kUnknown) drawn.push_back(i);
  }
  made = !drawn.empty();
  Rng rng(options.machines.seed);
  for (size_t i = drawn.size(); i > 1; --i) std::swap(drawn[i - 1], drawn[rng.Below(i)]);
  double sum = 0;
  size_t next = 0;
  for (size_t t = 0; t < kNumTraceTiers; ++t) {
    sum += options.shares[t];
    const auto end = static_cast<size_t>(std::llround(sum * static_cast<double>(drawn.size())));
    for (; next < std::min(end, drawn.size()); ++next) tiers[drawn[next]] = static_cast<TraceTier>(t);
  }
  return tiers;
}

// All machines under one kind of memory limits.
struct World {
  SoftMemoryScore score;
  // Predictor of the memory; null: hard limits, or the oracle
  const brain::PeakPredictor* predictor = nullptr;
  std::vector<double> memory;  // memory by machine in this horizon; unused with hard limits
  std::vector<bool> full;      // true if a task was killed in this horizon, by machine
  std::vector<double> used;    // usage in the previous window, excluding killed tasks, by machine
  // First window in which a task may run again, by machine and place; 0: not killed.
  std::vector<std::vector<size_t>> back;

  bool hard() const { return score.world == kHardLimits; }
};

class SoftMemoryReplay {
 public:
  SoftMemoryReplay(const PlacedTasks& placed, const SoftMemoryOptions& options, const SoftMemoryHooks& hooks)
      : placed_(placed),
        options_(options),
        hooks_(hooks),
        machines_(PlaceAtRandom(placed.tasks.size(), options.machines.machine_tasks,
                                options.machines.placements, options.machines.seed)) {}

  absl::Status Prepare(DaySource& source) {
    absl::StatusOr<Limits> requests = LimitsOf(source, placed_, options_, Feedback::kNone, hooks_);
    if (!requests.ok()) return requests.status();
    requests_ = *std::move(requests);
    absl::StatusOr<Limits> hard = LimitsOf(source, placed_, options_, Feedback::kOomRestart, hooks_);
    if (!hard.ok()) return hard.status();
    hard_limits_ = *std::move(hard);
    tiers_ = TiersOf(source, placed_, options_, result_.made_tiers);
    for (const TraceTier t : tiers_) ++result_.tier_tasks[static_cast<size_t>(t)];
    result_.tasks = placed_.tasks.size();
    result_.machines = machines_.size();
    absl::StatusOr<std::vector<std::unique_ptr<brain::PeakPredictor>>> made =
        MakePredictors(options_.machines);
    if (!made.ok()) return made.status();
    predictors_ = *std::move(made);
    AddWorld(kHardLimits, nullptr);
    for (size_t i = 0; i < predictors_.size(); ++i)
      AddWorld(options_.machines.predictors[i], predictors_[i].get());
    return absl::OkStatus();
  }

  SoftMemoryResult Run() {
    const auto warmup = static_cast<size_t>(options_.machines.warmup_s / kWindowSeconds);
    const auto horizon = static_cast<size_t>(options_.machines.horizon_s() / kWindowSeconds);
    for (size_t i = 0; i < placed_.windows; ++i) {
      if (i % kWindowsPerDay == 0) {
        if (hooks_.on_progress)
          hooks_.on_progress("soft limits", static_cast<double>(i) / static_cast<double>(placed_.windows));
        if (hooks_.should_stop && hooks_.should_stop()) {
          result_.partial = true;
          break;
        }
      }
      if (i >= warmup && (i - warmup) % horizon == 0) BeginHorizon(i, horizon);
      if (i >= warmup) {
        for (World& world : worlds_) StepWorld(i, world);
      }
      // Predictors observe the recorded usage, which is equal in all worlds.
      ObserveWindow(placed_, machines_, i, predictors_);
    }
    for (World& world : worlds_) {
      CloseHorizon(world);
      result_.worlds.push_back(std::move(world.score));
    }
    return std::move(result_);
  }

 private:
  void AddWorld(std::string_view name, const brain::PeakPredictor* predictor) {
    World& world = worlds_.emplace_back();
    world.score.world = name;
    world.predictor = predictor;
    world.memory.resize(machines_.size());
    world.full.resize(machines_.size());
    world.used.resize(machines_.size());
    world.back.assign(machines_.size(), std::vector<size_t>(options_.machines.machine_tasks, 0));
  }

  static void CloseHorizon(World& world) {
    world.score.full += static_cast<uint64_t>(std::ranges::count(world.full, true));
    world.full.assign(world.full.size(), false);
  }

  void BeginHorizon(size_t at, size_t horizon) {
    for (World& world : worlds_) {
      CloseHorizon(world);
      world.score.horizons += machines_.size();
      if (world.hard()) continue;
      for (uint32_t m = 0; m < machines_.size(); ++m) {
        world.memory[m] =
            world.predictor != nullptr ? world.predictor->Predict(m) : PeakOf(machines_[m], at, horizon);
      }
    }
  }

  double PeakOf(std::span<const uint32_t> machine, size_t from, size_t horizon) const {
    double peak = 0;
    for (size_t i = from; i < std::min(from + horizon, placed_.windows); ++i) {
      double usage = 0;
      for (const uint32_t t : machine) usage += std::max(0.F, placed_.tasks[t].usage[i]);
      peak = std::max(peak, usage);
    }
    return peak;
  }

  void StepWorld(size_t at, World& world) {
    const Limits& asked = world.hard() ? hard_limits_ : requests_;
    for (uint32_t m = 0; m < machines_.size(); ++m) {
      const std::vector<uint32_t>& machine = machines_[m];
      Restart(at, m, asked, world);
      running_.clear();
      double used = 0, limits = 0;
      for (size_t k = 0; k < machine.size(); ++k) {
        const TaskSeries& task = placed_.tasks[machine[k]];
        const bool measured = task.usage[at] >= 0, runs = measured && world.back[m][k] == 0;
        running_.push_back(
            {static_cast<int>(tiers_[machine[k]]), runs ? task.usage[at] : 0, asked[machine[k]][at]});
        used += running_.back().usage;
        limits += running_.back().request;
        world.score.owner += task.limit[at];
        SoftMemoryScore::Tier& tier = TierOfTask(world, machine[k]);
        tier.task_windows += runs ? 1 : 0;
        tier.lost_windows += measured && !runs ? 1 : 0;
      }
      const double memory = world.hard() ? limits : world.memory[m];
      world.score.memory += memory;
      world.used[m] = used;
      for (const uint32_t k : world.hard() ? OverLimit() : brain::FindVictims(running_, memory))
        Kill(at, m, k, memory, world);
    }
  }

  // Restarts killed tasks after their delay, highest tier first. With soft limits, a task restarts only if the
  // machine has room.
  void Restart(size_t at, uint32_t m, const Limits& asked, World& world) {
    std::vector<size_t>& back = world.back[m];
    waiting_.clear();
    for (uint32_t k = 0; k < back.size(); ++k) {
      if (back[k] > 0 && back[k] <= at) waiting_.push_back(k);
    }
    std::ranges::stable_sort(waiting_, std::greater<>(), [&](uint32_t k) { return tiers_[machines_[m][k]]; });
    double used = world.used[m];
    for (const uint32_t k : waiting_) {
      const double request = asked[machines_[m][k]][at];
      if (!world.hard() && used + request > world.memory[m]) continue;
      used += request;
      back[k] = 0;
    }
  }

  // Returns the running tasks with usage above their own limits.
  std::vector<uint32_t> OverLimit() const {
    std::vector<uint32_t> out;
    for (uint32_t k = 0; k < running_.size(); ++k) {
      if (running_[k].usage > running_[k].request) out.push_back(k);
    }
    return out;
  }

  void Kill(size_t at, uint32_t m, uint32_t k, double machine_memory, World& world) {
    const auto away = static_cast<size_t>((options_.restart_s + kWindowSeconds - 1) / kWindowSeconds);
    const uint32_t task = machines_[m][k];
    world.back[m][k] = at + 1 + away;
    world.full[m] = true;
    SoftMemoryScore::Tier& tier = TierOfTask(world, task);
    ++tier.kills;
    if (running_[k].usage <= running_[k].request) ++tier.within_request;
    if (!hooks_.on_kill) return;
    const auto per_placement = static_cast<uint32_t>(machines_.size() / options_.machines.placements);
    hooks_.on_kill({.world = world.score.world,
                    .task = placed_.tasks[task].name,
                    .time_s = (placed_.first.index + static_cast<int64_t>(at)) * kWindowSeconds,
                    .placement = m / per_placement,
                    .machine = m % per_placement,
                    .tier = tiers_[task],
                    .usage = running_[k].usage,
                    .request = running_[k].request,
                    .machine_usage = world.used[m],
                    .machine_memory = machine_memory});
  }

  SoftMemoryScore::Tier& TierOfTask(World& world, uint32_t task) const {
    return world.score.tiers[static_cast<size_t>(tiers_[task])];
  }

  const PlacedTasks& placed_;
  const SoftMemoryOptions& options_;
  const SoftMemoryHooks& hooks_;
  const std::vector<std::vector<uint32_t>> machines_;
  Limits requests_, hard_limits_;
  std::vector<TraceTier> tiers_;  // tier by task
  std::vector<std::unique_ptr<brain::PeakPredictor>> predictors_;
  std::vector<World> worlds_;
  std::vector<brain::SoftTask> running_;  // tasks of the machine that is being stepped
  std::vector<uint32_t> waiting_;
  SoftMemoryResult result_;
};

}  // namespace

SoftMemoryScore::Tier SoftMemoryScore::total() const {
  Tier out;
  for (const Tier& t : tiers) {
    out.task_windows += t.task_windows;
    out.lost_windows += t.lost_windows;
    out.kills += t.kills;
    out.within_request += t.within_request;
  }
  return out;
}

absl::StatusOr<SoftMemoryResult> ReplaySoftMemory(DaySource& source, const SoftMemoryOptions& options,
                                                  const SoftMemoryHooks& hooks) {
  if (absl::Status s = CheckTierShares(options); !s.ok()) return s;
  const absl::StatusOr<PlacedTasks> placed = ReadPlacedTasks(source, Resource::kMemory);
  if (!placed.ok()) return placed.status();
  if (absl::Status s = CheckOvercommit(*placed, options.machines); !s.ok()) return s;
  SoftMemoryReplay replay(*placed, options, hooks);
  if (absl::Status s = replay.Prepare(source); absl::IsCancelled(s)) {
    SoftMemoryResult none;
    none.partial = true;
    return none;
  } else if (!s.ok()) {
    return s;
  }
  return replay.Run();
}

}  // namespace taut::tools
