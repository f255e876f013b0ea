// Tracks sent orders and their outcomes, so that a kill is attributed to the limit that was in force.
#pragma once

#include <cstdint>
#include <span>

#include "absl/container/flat_hash_map.h"
#include "brain/fleet/live_trials.h"
#include "brain/fleet/replica_pass.h"

namespace taut::brain {

// Records orders and outcomes. Not thread-safe.
class LiveOrders {
 public:
  LiveOrders(FleetState& state, ReplicaPass& replicas, LiveTrials& trials)
      : s_(state), replicas_(replicas), trials_(trials) {}

  // NoteSent records that the decision was passed to the actuator at `now_s`; the previous limit was in force
  // until then. RememberSent records a decision that was sent, and may have an outcome, before a restart.
  void NoteSent(const Decision& d, int64_t now_s);
  void RememberSent(const Decision& d);
  // Replaces the known orders of a job by the orders in `decisions`, which are the job's last decisions,
  // ascending. REQUIRES: Has(id).
  void RememberAllSent(JobId id, std::span<const Decision> decisions);
  // Returns true if this decision ordered the job's current memory limit.
  bool IsLast(const Decision& d) const;
  // Passes a reported outcome to the job, trial or number of tasks to which the order belongs.
  void TakeOutcome(const OutcomeUpdate& outcome);

 private:
  // Records the job of a sent memory order, so that the outcome can be assigned to the job.
  void Note(uint64_t decision, JobId job);

  FleetState& s_;
  ReplicaPass& replicas_;
  LiveTrials& trials_;
  // Job by decision id, for memory orders without a final outcome.
  absl::flat_hash_map<uint64_t, JobId> of_memory_;
};

}  // namespace taut::brain
