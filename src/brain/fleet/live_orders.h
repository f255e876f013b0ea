// Orders on their way, and their outcomes: a kill is charged to the limit that was in force.
#pragma once

#include <cstdint>
#include <span>

#include "absl/container/flat_hash_map.h"
#include "brain/fleet/live_trials.h"
#include "brain/fleet/replica_pass.h"

namespace taut::brain {

class LiveOrders {
 public:
  LiveOrders(FleetState& state, ReplicaPass& replicas, LiveTrials& trials)
      : s_(state), replicas_(replicas), trials_(trials) {}

  // A decision was passed to the actuator at `now_s`, or had its outcome before a restart: the limit that it
  // replaced was in force until then.
  void NoteSent(const Decision& d, int64_t now_s);
  void RememberSent(const Decision& d);
  // The same of the last decisions of a job, ascending, in place of what is known. REQUIRES: Has(id).
  void RememberAllSent(JobId id, std::span<const Decision> decisions);
  // Whether the memory limit that its job has by order is this decision's.
  bool IsLast(const Decision& d) const;
  // What the actuator said, if it matters to a trial or to what can be set.
  void TakeOutcome(const OutcomeUpdate& outcome);

 private:
  // So that its outcome finds the job.
  void Note(uint64_t decision, JobId job);

  FleetState& s_;
  ReplicaPass& replicas_;
  LiveTrials& trials_;
  // Orders of memory limits of which no outcome is known that is the last.
  absl::flat_hash_map<uint64_t, JobId> of_memory_;
};

}  // namespace taut::brain
