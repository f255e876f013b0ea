// Trials: limits that run on some tasks of a job, which are known by name.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "brain/fleet/fleet_state.h"

namespace taut::brain {

class LiveTrials {
 public:
  explicit LiveTrials(FleetState& state) : s_(state) {}

  // Jobs with a trial of some of their tasks.
  std::vector<JobId> Running();
  void SetTasks(JobId id, Resource r, std::vector<TrialTask> members);
  // A trial began with this decision.
  void Begin(const Decision& d) { trials_[d.id] = d.job; }
  // The trials that run on tasks of the job, which comes from a checkpoint.
  void Note(const LiveJob& job);
  void TakeOutcome(const OutcomeUpdate& outcome);

 private:
  FleetState& s_;
  // By the decision that began it; some may have ended.
  absl::flat_hash_map<uint64_t, JobId> trials_;
};

}  // namespace taut::brain
