// Trials: limits that are set on some tasks of a job only; the tasks are identified by name.
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
  // Notes that this decision began a trial.
  void Begin(const Decision& d) { trials_[d.id] = d.job; }
  // Notes the trials of a job that was loaded from a checkpoint.
  void Note(const LiveJob& job);
  // Passes the outcome of an order to the trial that the order began; no effect for an unknown order.
  void TakeOutcome(const OutcomeUpdate& outcome);

 private:
  FleetState& s_;
  // Jobs by id of the decision that began the trial; some of these trials may have ended.
  absl::flat_hash_map<uint64_t, JobId> trials_;
};

}  // namespace taut::brain
