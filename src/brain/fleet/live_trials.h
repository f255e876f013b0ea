// Trials: limits that are set on only some tasks of a job. The tasks are identified by name.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "brain/fleet/fleet_state.h"

namespace taut::brain {

// Index of the jobs with running trials. Not thread-safe.
class LiveTrials {
 public:
  explicit LiveTrials(FleetState& state) : s_(state) {}

  // Returns the jobs with a trial on some of their tasks, ascending. O(trials).
  std::vector<JobId> Running();
  // Sets the tasks of the job's trial; no effect without a trial.
  void SetTasks(JobId id, Resource r, std::vector<TrialTask> members);
  // Records that this decision began a trial.
  void Begin(const Decision& d) { trials_[d.id] = d.job; }
  // Records the running trials of a job that was loaded from a checkpoint.
  void Note(const LiveJob& job);
  // Passes the outcome of an order to the trial begun by the order; no effect for an unknown order.
  void TakeOutcome(const OutcomeUpdate& outcome);

 private:
  FleetState& s_;
  // Job by id of the decision that began the trial; trials that have ended may still be listed.
  absl::flat_hash_map<uint64_t, JobId> trials_;
};

}  // namespace taut::brain
