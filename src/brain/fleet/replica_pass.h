// Numbers of tasks across the fleet: decisions, holds, and the outcomes of orders.
#pragma once

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "brain/fleet/fleet_state.h"
#include "common/model/closed_window.h"

namespace taut::brain {

// Decides numbers of tasks and tracks their orders. Not thread-safe.
class ReplicaPass {
 public:
  explicit ReplicaPass(FleetState& state) : s_(state) {}

  // Decides the job's number of tasks; no effect on a job without replicas.
  void Decide(LiveJob& job, int64_t now_s, PassOutput& out);
  // Appends the change of the job's hold to `out`; returns false if the hold has not changed.
  static bool NoteHold(LiveJob& job, int64_t now_s, PassOutput& out);
  // Ends the hold of a job whose number of tasks is set by the owner again. Call after a change of settings.
  void EndHold(LiveJob& job, int64_t now_s, PassOutput& out);
  // Processes scaled jobs that were not measured in the window. O(jobs).
  void TakeSilence(const ClosedWindow& closed, PassOutput& out);
  // Records that windows up to `window` were received. Call during a restore.
  void HeardUntil(WindowId window) { heard_ = window; }
  // Passes the chosen size of a task to the job's recommenders, and recommends again if limits follow the size.
  // REQUIRES: job.replicas is not null.
  void TakeTaskSize(LiveJob& job) const;

  // Records the job by the order's decision id, so that the outcome is assigned to the job. REQUIRES:
  // job.replicas is not null.
  void NoteOrder(uint64_t decision, LiveJob& job);
  // KeepOrder registers the job's last order for its outcome; ForgetOrder removes the registration. No effect on
  // a job without replicas.
  void KeepOrder(const LiveJob& job);
  void ForgetOrder(const LiveJob& job);
  // Passes an outcome to the job whose last order is `decision`; no effect if no job has this order.
  void TakeOutcome(uint64_t decision, Outcome outcome);

 private:
  // Stops scaling the job. REQUIRES: job.replicas is not null.
  void Drop(LiveJob& job);

  FleetState& s_;
  // heard_: the newest window in which a job was measured. heard_since_: the first window since the last long
  // gap.
  WindowId heard_{INT32_MIN}, heard_since_{INT32_MIN};
  // Job by decision id of its last order of a number of tasks.
  absl::flat_hash_map<uint64_t, JobId> orders_;
};

}  // namespace taut::brain
