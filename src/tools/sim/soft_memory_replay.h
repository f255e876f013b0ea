// What soft memory limits would have cost and broken: machines that have as much memory as a predictor of their
// peak said, whose tasks may use more than they request until the machine is full; beside hard limits, at which
// a task dies. docs/algorithms/overcommit.md, "Soft limits".
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

inline constexpr std::string_view kHardLimits = "hard";  // the world in which a task dies at its limit

struct SoftMemoryOptions {
  // How machines are made; its predictors, and "oracle", say how much memory each has for the next horizon.
  OvercommitOptions machines;
  brain::Policy requests = brain::Policy::kAnalogs;  // whose limits are the requests, and the hard limits
  brain::VerticalSettings settings;
  // After the window of its kill a task does not run for this time; with soft limits until its machine has room
  // for its request, too: more memory than was used in the window before.
  int64_t restart_s = 600;
  // For jobs without a priority, and with `made_tiers` for all: the share of them in each tier, at random; else
  // the tier is that of the priority.
  std::array<double, kNumTraceTiers> shares = {};
  bool made_tiers = false;
  int threads = 0;  // of the recommender's replay; 0: one a core
};

// One way of limiting memory, over the scored windows of all machines.
struct SoftMemoryScore {
  struct Tier {
    uint64_t task_windows = 0;  // in which it ran and was measured
    uint64_t lost_windows = 0;  // in which it was measured in the trace, and here did not run after a kill
    uint64_t kills = 0;
    uint64_t within_request = 0;  // of the kills: used no more than requested

    double kills_a_task_day() const {
      return kWindowsPerDay * OvercommitScore::Mean(static_cast<double>(kills), task_windows);
    }
    double lost_share() const {
      return OvercommitScore::Mean(static_cast<double>(lost_windows), task_windows + lost_windows);
    }
  };
  std::string world;             // "hard", or the predictor
  double memory = 0, owner = 0;  // sums over machines and windows: what is kept for the tasks; owners' limits
  std::array<Tier, kNumTraceTiers> tiers = {};
  uint64_t horizons = 0, full = 0;  // of all machines, begun; and those in which a task was killed

  double footprint() const { return owner > 0 ? memory / owner : 0; }
  double full_share() const { return OvercommitScore::Mean(static_cast<double>(full), horizons); }
  Tier total() const;
};

struct SoftMemoryResult {
  size_t tasks = 0, machines = 0;
  std::array<size_t, kNumTraceTiers> tier_tasks = {};
  bool made_tiers = false;              // some tiers were drawn
  std::vector<SoftMemoryScore> worlds;  // "hard" first
  bool partial = false;
  // Of the machines of the trace (recorded_soft_memory.h), and not of machines made of its tasks.
  bool of_recorded = false;
  RecordedUse recorded;
};

struct SoftKill {
  std::string_view world, task;         // for the call
  int64_t time_s = 0;                   // start of the window
  uint32_t placement = 0, machine = 0;  // the machine within its placement
  TraceTier tier = TraceTier::kUnknown;
  double usage = 0, request = 0;                 // bytes
  double machine_usage = 0, machine_memory = 0;  // before the kills of the window
  std::string_view machine_name = {};            // of a recorded machine
};

struct SoftMemoryHooks {
  std::function<void(const SoftKill&)> on_kill;
  std::function<void(std::string_view what, double share)> on_progress;
  std::function<bool()> should_stop;
};

// Reads `source` twice. InvalidArgument as ReplayOvercommit, and for shares that do not add up to 1.
absl::StatusOr<SoftMemoryResult> ReplaySoftMemory(DaySource& source, const SoftMemoryOptions& options,
                                                  const SoftMemoryHooks& hooks = {});

}  // namespace taut::tools
