// Replays replica policies over one job's load and scores the numbers of tasks that they would have ordered.
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
  kQueue  // load above the ready capacity waits; the policies see it as load
};

struct ReplicaReplayOptions {
  brain::ReplicaSettings settings;  // max_utilization and startup_s apply to the simulation, too
  double capacity = 1;              // load that one task processes at 100 % utilisation
  double startup_sigma = 0;  // sigma of the log-normal start-up time around startup_s; 0: always startup_s
  OverloadModel model = OverloadModel::kShed;
  int64_t decide_every_s = 60;    // rounded up to whole steps of the series
  int64_t warmup_s = 7 * 86'400;  // time from the start that is not measured, seconds
  uint64_t seed = 1;
  // The gate between a recommended and an ordered number in tautd (brain/rollout/replica_gate.h); absent: no
  // gate. Its replica_policy must be set. The clairvoyant policy is not gated.
  std::optional<brain::JobPolicy> managed;
  const FleetMoves* fleet = nullptr;  // the policies' knowledge of other jobs; null: none
};

// Sums over the measured steps of one job under one policy.
struct ReplicaScore {
  uint64_t steps = 0;         // measured steps
  uint64_t absent_steps = 0;  // measured steps without a load; they count only for task_s and changes
  double measured_s = 0;
  double task_s = 0;              // sum over time of the number of tasks, starting or ready
  double clairvoyant_task_s = 0;  // sum over time of exactly the number of tasks that the load needs
  uint64_t overloaded_steps = 0;
  double load = 0, lost = 0;            // sums over the steps
  double delay_s = 0, max_delay_s = 0;  // kQueue: sum and maximum of the delay until load is processed
  double held_s = 0;  // seconds from a decision without a load, a signal or a result until the next decision
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
  // Adds the score of another job, or of another part of the same job.
  void Add(const ReplicaScore& other);
};

// One step, with the data from which the step's score can be recomputed.
struct ReplicaStep {
  int64_t time_s = 0;
  std::optional<double> load;
  int ready = 0, starting = 0;  // numbers of tasks in force during the step
  int decided = 0;              // decided at the beginning of the step, in force from the next step
  const brain::ReplicaPolicy* decider = nullptr;  // explains its recommendation; null: no decision was due
  // Sentence for users: the reason why `decided` is delayed; "" if there is no delay. Valid during the call.
  std::string_view waits;
};
using OnReplicaStep = std::function<void(const ReplicaStep& step)>;

// Returns the number of tasks that process `load` at or below the highest utilization, within the replica
// bounds.
int NeededTasks(double load, const ReplicaReplayOptions& options);

// Replays `policy` over the series. Returns InvalidArgument if no step with a load is left after the warm-up.
absl::StatusOr<ReplicaScore> ReplayReplicas(const LoadSeries& series, const ReplicaReplayOptions& options,
                                            brain::ReplicaPolicy& policy,
                                            const OnReplicaStep& on_step = nullptr);
// Returns the policy that knows the load. It decides the highest number of tasks needed from the next step
// until the tasks of its next decision are ready. Keeps references to both arguments.
std::unique_ptr<brain::ReplicaPolicy> NewClairvoyantPolicy(const LoadSeries& series,
                                                           const ReplicaReplayOptions& options);

// Replays the policy with this name, or the clairvoyant policy for "clairvoyant". Returns InvalidArgument for
// an unknown name, and the errors of ReplayReplicas.
absl::StatusOr<ReplicaScore> ReplayByName(const LoadSeries& series, const ReplicaReplayOptions& options,
                                          std::string_view policy, const OnReplicaStep& on_step = nullptr);

}  // namespace taut::tools
