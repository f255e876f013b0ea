// Trials: limits that run on some tasks of a job, which are known by name.
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
  // Sets the tasks of the job's trial; no effect without one.
  void SetTasks(JobId id, Resource r, std::vector<TrialTask> members);
  // Notes that this decision began a trial.
  void Begin(const Decision& d) { trials_[d.id] = d.job; }
  // Notes the trials of a job that was loaded from a checkpoint.
  void Note(const LiveJob& job);
  // Passes an outcome to the trial that the order began, if it is known.
  void TakeOutcome(const OutcomeUpdate& outcome);

 private:
  FleetState& s_;
  // By id of the decision that began the trial; some trials may have ended.
  absl::flat_hash_map<uint64_t, JobId> trials_;
};

}  // namespace taut::brain
