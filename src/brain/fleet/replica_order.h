// The number of tasks that is ordered for a live job: the gate that it went through, and how it is carried out.
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

struct ReplicaOrder {
  ReplicaGateState gate;
  uint64_t id = 0;       // the decision that ordered the number last; 0: none
  bool failed = false;   // it was not carried out
  bool dry_run = false;  // no actuator carries out what is ordered
  // The tasks taken as running in the last windows, the newest last; as many as a start-up has. Empty where all
  // that is taken as running is seen to run.
  std::vector<int> assumed;

  void Note(uint64_t decision) {
    id = decision;
    failed = false;
  }
  // Of that order: whether it is carried out at all. One that failed is given again (kRepeatFailedSeconds).
  // True: that is known anew.
  bool TakeOutcome(uint64_t decision, Outcome outcome);
  // Another program may turn out to set the number: the caller takes the step back, once.
  void NoteRunning(const RunningTasks& running);
  std::optional<ReplicaStepBack> TakeStepBack() { return std::exchange(step_back_, std::nullopt); }
  // The end of the time in which no order is given, as another program sets the number; absent: it is not now.
  std::optional<int64_t> steps_back_until(int64_t now_s) const {
    return now_s < gate.step_back_until_s ? std::optional(gate.step_back_until_s) : std::nullopt;
  }
  // Tasks are counted in another way from now on: their number may be another without anybody's doing.
  void CountOtherwise();
  // Of `count` tasks that the policy takes as running, those that are ready: where a number is only shown, or
  // ordered in a dry run, as many as would be if they had been started. `ready`: of those that run.
  int AssumedReady(int ready, int count, size_t startup_windows);
  Verdict Decide(const JobPolicy& policy, ReplicaProposal proposal);
  // The time at which an order that failed is given again, for people; "": none has failed.
  std::string FailedText() const;
  // After a clock that was far ahead: times after `latest_s` are taken for `now_s`.
  void DistrustFuture(int64_t latest_s, int64_t now_s);

  // All but the gate.
  void SaveOutcome(ByteWriter& out) const;
  absl::Status LoadOutcome(ByteReader& in, size_t startup_windows);

 private:
  std::optional<ReplicaStepBack> step_back_;
};

}  // namespace taut::brain
