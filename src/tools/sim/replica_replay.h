// What each replica policy would have done with one job's load, and what that would have meant.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/replicas/replica_policy.h"
#include "brain/replicas/settings.h"
#include "brain/rollout/job_policy.h"
#include "common/base/time.h"
#include "common/model/load_series.h"
#include "tools/sim/fleet_moves.h"

namespace taut::tools {

enum class OverloadModel : uint8_t {
  kShed,  // load above the ready capacity is lost
  kQueue  // it waits and is processed later; the policies see it as load
};

struct ReplicaReplayOptions {
  brain::ReplicaSettings settings;  // its max_utilization and startup_s hold for the simulation too
  double capacity = 1;              // load that one task processes at 100 % utilisation
  double startup_sigma = 0;         // of the log-normal start-up time around startup_s; 0: always startup_s
  OverloadModel model = OverloadModel::kShed;
  int64_t decide_every_s = 60;    // rounded up to whole steps of the series
  int64_t warmup_s = 7 * 86'400;  // not measured
  uint64_t seed = 1;
  // What stands between a recommended and an ordered number in tautd (brain/rollout/replica_gate.h); absent:
  // nothing
  // does. Its replica_policy must be set. The policy that knows the load is not held by it.
  std::optional<brain::JobPolicy> managed;
  const FleetMoves* fleet = nullptr;  // what the policies know of other jobs; null: nothing
};

// Of the measured steps of one job under one policy.
struct ReplicaScore {
  uint64_t steps = 0;         // measured
  uint64_t absent_steps = 0;  // of these without a load; they count for tasks and changes alone
  double measured_s = 0;
  double task_s = 0;              // tasks, starting or ready, times seconds
  double clairvoyant_task_s = 0;  // the same with exactly the tasks that the load needs, at any time
  uint64_t overloaded_steps = 0;
  double load = 0, lost = 0;            // sums over the steps
  double delay_s = 0, max_delay_s = 0;  // queue: sum and highest of the delay until work is processed
  double held_s = 0;  // after a decision that lacked a load, a signal or a number, until the next
  uint64_t starts = 0, changes = 0;
  uint64_t days = 0, days_without_change = 0;
  // SPEC's elasticity metrics (Herbst et al. 2016), sums over the steps with a load.
  double under = 0, over = 0;
  uint64_t under_steps = 0, over_steps = 0, unstable_steps = 0;

  uint64_t load_steps() const { return steps - absent_steps; }
  double of_clairvoyant() const { return clairvoyant_task_s > 0 ? task_s / clairvoyant_task_s : 0; }
  double OfLoadSteps(double sum) const {
    return load_steps() > 0 ? sum / static_cast<double>(load_steps()) : 0;
  }
  double overloaded_share() const { return OfLoadSteps(static_cast<double>(overloaded_steps)); }
  double PerDay(uint64_t number) const { return number * double{kDaySeconds} / std::max(measured_s, 1.0); }
  // Of another job, or of another part of the same.
  void Add(const ReplicaScore& other);
};

// One step, for who wants to recompute a score.
struct ReplicaStep {
  int64_t time_s = 0;
  std::optional<double> load;
  int ready = 0, starting = 0;                    // in force during the step
  int decided = 0;                                // at its begin, in force from the next
  const brain::ReplicaPolicy* decider = nullptr;  // can explain what it recommends; null: no decision was due
  std::string_view waits;  // for people: what `decided` waits for; "": nothing. Valid during the call
};
using OnReplicaStep = std::function<void(const ReplicaStep& step)>;

// The tasks that process `load` at most at the highest utilisation; at least the minimum.
int NeededTasks(double load, const ReplicaReplayOptions& options);

// InvalidArgument if nothing is left after the warm-up.
absl::StatusOr<ReplicaScore> ReplayReplicas(const LoadSeries& series, const ReplicaReplayOptions& options,
                                            brain::ReplicaPolicy& policy,
                                            const OnReplicaStep& on_step = nullptr);
// The policy that knows the load: at any time the tasks that are needed until its next decision, when they
// are ready.
std::unique_ptr<brain::ReplicaPolicy> NewClairvoyantPolicy(const LoadSeries& series,
                                                           const ReplicaReplayOptions& options);

// By the name of a policy, or "clairvoyant". InvalidArgument for another name.
absl::StatusOr<ReplicaScore> ReplayByName(const LoadSeries& series, const ReplicaReplayOptions& options,
                                          std::string_view policy, const OnReplicaStep& on_step = nullptr);

}  // namespace taut::tools
