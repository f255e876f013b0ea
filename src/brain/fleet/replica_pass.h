// Numbers of tasks across the fleet: decisions, holds, and the outcomes of orders.
#pragma once

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "brain/fleet/fleet_state.h"
#include "common/model/closed_window.h"

namespace taut::brain {

// Not thread-safe.
class ReplicaPass {
 public:
  explicit ReplicaPass(FleetState& state) : s_(state) {}

  // Decides the job's number of tasks; no effect on a job that is not scaled.
  void Decide(LiveJob& job, int64_t now_s, PassOutput& out);
  // Appends the change of the job's hold to `out`; returns false if the hold has not changed.
  static bool NoteHold(LiveJob& job, int64_t now_s, PassOutput& out);
  // Call after a change of settings. Ends the hold of a job whose number of tasks is the owner's again.
  void EndHold(LiveJob& job, int64_t now_s, PassOutput& out);
  // Handles scaled jobs that were not measured in the window. O(jobs).
  void TakeSilence(const ClosedWindow& closed, PassOutput& out);
  // Call during a restore. Records that windows up to `window` were received.
  void HeardUntil(WindowId window) { heard_ = window; }
  // Applies the chosen size of a task to the limits that follow the size.
  void TakeTaskSize(LiveJob& job) const;

  // Records the job's order, so that the outcome finds the job. REQUIRES: job.replicas is not null.
  void NoteOrder(uint64_t decision, LiveJob& job);
  // KeepOrder starts to wait for the outcome of the job's last order, ForgetOrder stops. No effect on a job
  // without `replicas`.
  void KeepOrder(const LiveJob& job);
  void ForgetOrder(const LiveJob& job);
  // Passes an outcome to the job whose last order is `decision`; no effect if there is no such job.
  void TakeOutcome(uint64_t decision, Outcome outcome);

 private:
  // Ends scaling of the job. REQUIRES: job.replicas is not null.
  void Drop(LiveJob& job);

  FleetState& s_;
  // heard_: the newest window in which any job was measured. heard_since_: the first window since the last
  // long gap.
  WindowId heard_{INT32_MIN}, heard_since_{INT32_MIN};
  // Jobs by the decision id of their last order of a number of tasks.
  absl::flat_hash_map<uint64_t, JobId> orders_;
};

}  // namespace taut::brain
