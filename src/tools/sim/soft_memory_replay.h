// Compares soft with hard memory limits. With soft limits, a machine's memory is the peak that a predictor
// forecasts, and tasks may exceed their requests until the machine is full. With hard limits, a task is killed at
// its limit. Source: docs/algorithms/overcommit.md, "Soft limits".
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/recommend/policy.h"
#include "brain/recommend/settings.h"
#include "tools/sim/overcommit_replay.h"
#include "tools/sim/placed_tasks.h"
#include "tools/sim/trace_tier.h"

namespace taut::tools {

inline constexpr std::string_view kHardLimits = "hard";  // name of the world with hard limits

struct SoftMemoryOptions {
  // Options of the machines. Their predictors, which may include "oracle", predict the memory of each machine for
  // the next horizon.
  OvercommitOptions machines;
  brain::Policy requests = brain::Policy::kAnalogs;  // recommender of the requests and of the hard limits
  brain::VerticalSettings settings;
  // Restart delay after the window of a kill, in seconds. With soft limits, the task then waits until the machine
  // has room for its request in addition to the usage of the previous window.
  int64_t restart_s = 600;
  // Probability of each tier for a job whose tier is drawn at random: a job without a priority, or any job if
  // `made_tiers`. The tier of any other job follows from the job's priority.
  std::array<double, kNumTraceTiers> shares = {};
  bool made_tiers = false;
  int threads = 0;  // number of threads for the replay of the recommender; 0: one per core
};

// Score of one kind of memory limits over the scored windows of all machines.
struct SoftMemoryScore {
  struct Tier {
    uint64_t task_windows = 0;  // task-windows in which the task ran and was measured
    // Number of task-windows that the trace measured, but that the task missed under these limits because it was
    // killed.
    uint64_t lost_windows = 0;
    uint64_t kills = 0;
    uint64_t within_request = 0;  // kills of tasks with usage of at most their request

    double kills_a_task_day() const {
      return kWindowsPerDay * OvercommitScore::Mean(static_cast<double>(kills), task_windows);
    }
    double lost_share() const {
      return OvercommitScore::Mean(static_cast<double>(lost_windows), task_windows + lost_windows);
    }
  };
  std::string world;  // name: "hard", or the name of the predictor
  // Memory reserved for the tasks, and the owners' limits, summed over machines and windows.
  double memory = 0, owner = 0;
  std::array<Tier, kNumTraceTiers> tiers = {};
  // Number of horizons over all machines, and of horizons in which a task was killed.
  uint64_t horizons = 0, full = 0;

  double footprint() const { return owner > 0 ? memory / owner : 0; }
  double full_share() const { return OvercommitScore::Mean(static_cast<double>(full), horizons); }
  Tier total() const;
};

struct SoftMemoryResult {
  size_t tasks = 0, machines = 0;
  std::array<size_t, kNumTraceTiers> tier_tasks = {};
  bool made_tiers = false;              // true if the tiers of some jobs were drawn at random
  std::vector<SoftMemoryScore> worlds;  // scores, one per world, "hard" first
  bool partial = false;
  // True for recorded machines (recorded_soft_memory.h), false for random machines.
  bool of_recorded = false;
  RecordedUse recorded;
};

struct SoftKill {
  std::string_view world, task;         // names, valid during the call
  int64_t time_s = 0;                   // start of the window
  uint32_t placement = 0, machine = 0;  // placement, and machine within the placement
  TraceTier tier = TraceTier::kUnknown;
  double usage = 0, request = 0;                 // amounts in bytes
  double machine_usage = 0, machine_memory = 0;  // amounts before the kills of the window
  std::string_view machine_name = {};            // name of a recorded machine; "" for a random machine
};

struct SoftMemoryHooks {
  std::function<void(const SoftKill&)> on_kill;
  std::function<void(std::string_view what, double share)> on_progress;
  std::function<bool()> should_stop;
};

// Replays all worlds. Reads `source` three times. Returns InvalidArgument for options that ReplayOvercommit()
// rejects, and for shares that do not add up to 1. The result is partial if should_stop returned true.
absl::StatusOr<SoftMemoryResult> ReplaySoftMemory(DaySource& source, const SoftMemoryOptions& options,
                                                  const SoftMemoryHooks& hooks = {});

}  // namespace taut::tools
