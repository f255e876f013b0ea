// The ordered number of tasks of a job: the gate's state, and the outcome of the order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "brain/rollout/job_policy.h"
#include "brain/rollout/replica_gate.h"
#include "common/base/bytes.h"

namespace taut::brain {

// State of the last order. Not thread-safe.
struct ReplicaOrder {
  ReplicaGateState gate;
  uint64_t id = 0;       // id of the last decision that ordered the number; 0: none
  bool failed = false;   // true if the order failed
  bool dry_run = false;  // true if no actuator executes orders
  // Number of tasks that are assumed to run, for each window of the last start-up time, newest last. Empty if the
  // running tasks are observed.
  std::vector<int> assumed;
  std::optional<ReplicaStepBack> step_back;  // step back that TakeStepBack returns; not saved

  // Starts a new order with the id `decision`.
  void Note(uint64_t decision) {
    id = decision;
    failed = false;
  }
  // Processes the outcome of the order with the id `decision`. A failed order is repeated after
  // kRepeatFailedSeconds. Returns true if the state changed.
  bool TakeOutcome(uint64_t decision, Outcome outcome);
  // Observes the running tasks. If another program sets the number of tasks, records a step back, which
  // TakeStepBack returns once.
  void NoteRunning(const RunningTasks& running);
  std::optional<ReplicaStepBack> TakeStepBack() { return std::exchange(step_back, std::nullopt); }
  // Returns the time until which no orders are sent because another program sets the number of tasks, seconds
  // since the epoch; absent: orders are allowed.
  std::optional<int64_t> steps_back_until(int64_t now_s) const {
    return now_s < gate.step_back_until_s ? std::optional(gate.step_back_until_s) : std::nullopt;
  }
  // Records that the source of the count of tasks has changed: the count may jump although no task starts or
  // stops.
  void CountOtherwise();
  // Returns the number of ready tasks among the `count` tasks that the policy assumes to run. If `count` is only
  // shown, or ordered in a dry run, returns the number of tasks that would be ready if they had been started.
  // `ready`: ready tasks among the running tasks.
  int AssumedReady(int ready, int count, size_t startup_windows);
  // Returns the decision for the proposal, or repeats a failed order when its repetition is due.
  Verdict Decide(const JobPolicy& policy, ReplicaProposal proposal);
  // Returns a sentence for people with the time at which a failed order is repeated; "" if no order has failed.
  std::string FailedText() const;
  // Replaces times after `latest_s` by `now_s`, after the clock was far ahead.
  void DistrustFuture(int64_t latest_s, int64_t now_s);

  // Saves the order's state except the gate.
  void SaveOutcome(ByteWriter& out) const;
  absl::Status LoadOutcome(ByteReader& in, size_t startup_windows);
};

}  // namespace taut::brain
