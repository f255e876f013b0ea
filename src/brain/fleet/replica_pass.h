// Numbers of tasks: decisions, numbers that are held, and the outcomes of orders.
#pragma once

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "brain/fleet/fleet_state.h"
#include "common/model/closed_window.h"

namespace taut::brain {

class ReplicaPass {
 public:
  explicit ReplicaPass(FleetState& state) : s_(state) {}

  // Decides the job's number of tasks; nothing where none is recommended.
  void Decide(LiveJob& job, int64_t now_s, PassOutput& out);
  // True: its number of tasks is held from now on, or no longer.
  static bool NoteHold(LiveJob& job, int64_t now_s, PassOutput& out);
  // After a change of settings: nothing is held of a job whose number is the owner's again.
  void EndHold(LiveJob& job, int64_t now_s, PassOutput& out);
  // Scaled jobs of which nothing was measured in the window.
  void TakeSilence(const ClosedWindow& closed, PassOutput& out);
  // During a restore: windows up to this one were heard.
  void HeardUntil(WindowId window) { heard_ = window; }
  // Limits that follow the size of a task are of the size that is known now.
  void TakeTaskSize(LiveJob& job) const;

  // So that its outcome finds the job. REQUIRES: job.replicas is not null.
  void NoteOrder(uint64_t decision, LiveJob& job);
  // The order that the job knows is looked for, or no longer.
  void KeepOrder(const LiveJob& job);
  void ForgetOrder(const LiveJob& job);
  void TakeOutcome(uint64_t decision, Outcome outcome);

 private:
  // It is not scaled any more. REQUIRES: job.replicas.
  void Drop(LiveJob& job);

  FleetState& s_;
  // The newest window in which any job was measured, and the first of those without a long gap before it.
  WindowId heard_{INT32_MIN}, heard_since_{INT32_MIN};
  // The order of a number of tasks that each job was given last.
  absl::flat_hash_map<uint64_t, JobId> orders_;
};

}  // namespace taut::brain
