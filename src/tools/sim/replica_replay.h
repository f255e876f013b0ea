// Replays replica policies over one job's load, and scores the numbers of tasks that they would have ordered.
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
  kQueue  // load above the ready capacity waits and is part of the load that policies observe
};

struct ReplicaReplayOptions {
  brain::ReplicaSettings settings;  // the simulation also uses max_utilization and startup_s
  double capacity = 1;              // load that one task processes at a utilization of 100 %
  double startup_sigma = 0;         // sigma of a log-normal start-up time around startup_s; 0: constant
  OverloadModel model = OverloadModel::kShed;
  int64_t decide_every_s = 60;    // rounded up to whole steps of the series
  int64_t warmup_s = 7 * 86'400;  // time at the start that is replayed but not scored, in seconds
  uint64_t seed = 1;
  // Gate of tautd between the recommended and the ordered number (brain/rollout/replica_gate.h); absent: no gate.
  // REQUIRES: the job policy sets replica_policy. Does not apply to the clairvoyant policy.
  std::optional<brain::JobPolicy> managed;
  const FleetMoves* fleet = nullptr;  // load changes of other jobs, from which policies learn; may be null
};

// Sums over the scored steps of one job under one policy.
struct ReplicaScore {
  uint64_t steps = 0;         // number of scored steps
  uint64_t absent_steps = 0;  // number of scored steps without a load, which only affect task_s and changes
  double measured_s = 0;
  double task_s = 0;              // number of starting and ready tasks, summed over time
  double clairvoyant_task_s = 0;  // number of tasks that the load needs, summed over time
  uint64_t overloaded_steps = 0;
  double load = 0, lost = 0;            // loads, summed over the steps
  double delay_s = 0, max_delay_s = 0;  // kQueue: total and maximum delay of load
  double held_s = 0;  // time after decisions that lacked a load, a signal or a result, in seconds
  uint64_t starts = 0, changes = 0;
  uint64_t days = 0, days_without_change = 0;
  // Elasticity metrics of SPEC (Herbst et al. 2016), summed over the steps with a load.
  double under = 0, over = 0;
  uint64_t under_steps = 0, over_steps = 0, unstable_steps = 0;

  uint64_t load_steps() const { return steps - absent_steps; }
  double of_clairvoyant() const { return clairvoyant_task_s > 0 ? task_s / clairvoyant_task_s : 0; }
  double OfLoadSteps(double sum) const {
    return load_steps() > 0 ? sum / static_cast<double>(load_steps()) : 0;
  }
  double overloaded_share() const { return OfLoadSteps(static_cast<double>(overloaded_steps)); }
  double PerDay(uint64_t number) const { return number * double{kDaySeconds} / std::max(measured_s, 1.0); }
  // Adds the score of another job, or of other steps of the same job.
  void Add(const ReplicaScore& other);
};

// A step with the data from which its score can be recomputed.
struct ReplicaStep {
  int64_t time_s = 0;
  std::optional<double> load;
  int ready = 0, starting = 0;  // numbers of tasks during the step
  // Number of tasks decided at the beginning of the step, for the next step
  int decided = 0;
  // Policy that explains the decision; null: no decision was due
  const brain::ReplicaPolicy* decider = nullptr;
  // Sentence for users that explains the delay of `decided`; "" without a delay. Valid during the call.
  std::string_view waits;
};
using OnReplicaStep = std::function<void(const ReplicaStep& step)>;

// Returns the smallest number of tasks, within the replica bounds, that processes `load` at or below the maximum
// utilization.
int NeededTasks(double load, const ReplicaReplayOptions& options);

// Replays `policy` over the series. Returns InvalidArgument if there is no load after the warm-up.
absl::StatusOr<ReplicaScore> ReplayReplicas(const LoadSeries& series, const ReplicaReplayOptions& options,
                                            brain::ReplicaPolicy& policy,
                                            const OnReplicaStep& on_step = nullptr);
// Returns a policy that knows future load. It orders the highest number of tasks needed from the next step until
// tasks of the next decision are ready. The arguments must outlive the policy.
std::unique_ptr<brain::ReplicaPolicy> NewClairvoyantPolicy(const LoadSeries& series,
                                                           const ReplicaReplayOptions& options);

// Replays the policy with this name, where "clairvoyant" is the policy that knows future load. Returns
// InvalidArgument for an unknown name, and errors of ReplayReplicas().
absl::StatusOr<ReplicaScore> ReplayByName(const LoadSeries& series, const ReplicaReplayOptions& options,
                                          std::string_view policy, const OnReplicaStep& on_step = nullptr);

}  // namespace taut::tools
