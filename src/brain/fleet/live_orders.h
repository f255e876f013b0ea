// Tracks sent orders and their outcomes, so that a kill is charged to the limit that was in force.
#pragma once

#include <cstdint>
#include <span>

#include "absl/container/flat_hash_map.h"
#include "brain/fleet/live_trials.h"
#include "brain/fleet/replica_pass.h"

namespace taut::brain {

// Not thread-safe.
class LiveOrders {
 public:
  LiveOrders(FleetState& state, ReplicaPass& replicas, LiveTrials& trials)
      : s_(state), replicas_(replicas), trials_(trials) {}

  // NoteSent: the decision was passed to the actuator at `now_s`; until then the previous limit was in force.
  // RememberSent: the decision was sent, and possibly has an outcome, before a restart.
  void NoteSent(const Decision& d, int64_t now_s);
  void RememberSent(const Decision& d);
  // Replaces the known orders of a job by the orders of `decisions`, the job's last decisions, ascending.
  // REQUIRES: Has(id).
  void RememberAllSent(JobId id, std::span<const Decision> decisions);
  // Returns true if this decision ordered the job's current memory limit.
  bool IsLast(const Decision& d) const;
  // Passes an outcome that the actuator reported to the job, trial or number of tasks of the order.
  void TakeOutcome(const OutcomeUpdate& outcome);

 private:
  // Records the job of a sent memory order by its decision, so that the outcome can be assigned to the job.
  void Note(uint64_t decision, JobId job);

  FleetState& s_;
  ReplicaPass& replicas_;
  LiveTrials& trials_;
  // Orders of memory limits whose final outcome is not known yet.
  absl::flat_hash_map<uint64_t, JobId> of_memory_;
};

}  // namespace taut::brain
