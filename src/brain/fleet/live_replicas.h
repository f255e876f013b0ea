// The number of tasks of one live job: its load, what the policy recommends, and the gate.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/fleet/overload_day.h"
#include "brain/fleet/replica_hold.h"
#include "brain/recommend/recommender.h"
#include "brain/replicas/policies.h"
#include "brain/replicas/silence.h"
#include "brain/replicas/task_sizer.h"
#include "brain/rollout/job_policy.h"
#include "brain/rollout/replica_gate.h"
#include "common/base/bytes.h"
#include "common/model/closed_window.h"
#include "common/model/reason.h"
#include "common/model/signal.h"
#include "common/model/start_usage.h"

namespace taut::brain {

// What is done with a size that was chosen for the tasks of a job: kOwners: nothing, their limits are not set;
// kWouldBe: it is shown; kOrdered: their limits are set.
enum class SizeUse : uint8_t { kOwners, kWouldBe, kOrdered };

// The number of tasks is asked for: there is a policy, and the mode is not off.
inline bool DecidesReplicas(const JobPolicy& policy) {
  return !policy.replica_policy.empty() && policy.mode != Mode::kOff;
}

// How many tasks run by the word of a series, and whether agents see the tasks that are measured: then these
// count.
struct CountedTasks {
  SaidReplicas said;
  bool by_agents = false;
};

// A job's load is the CPU that its tasks use together, in cores. What one task can process is its CPU limit
// when the number of tasks changed last: a limit that follows the usage must not change the number, which
// would change the usage (A15). With SizeBy::kCheapest it is the size that is chosen for a task; while the
// limits are on their way to another size it is the smaller one, so that there are enough tasks first. With
// ReplicaSettings::task_capacity the load is that of the job's load series, and that is what one task can
// process. A policy that reads named signals gets those of the job (kOwnSignals and Signal::named), and one that
// reads no load decides without a load and a capacity.
class LiveReplicas {
 public:
  LiveReplicas(const ReplicaPolicyInfo& info, const ReplicaSettings& settings);
  // What `policy` asks for; null if it leaves the number of tasks to the owner.
  static std::unique_ptr<LiveReplicas> For(const JobPolicy& policy);

  // A measured window of CPU. `limit`: of each task, in cores; absent: not known. Without any limit so far
  // there is no recommendation, unless the load is that of series or the policy reads none.
  // `analogs`: what other jobs' loads do; null: not known. `counted` goes before the tasks of `cpu`, which
  // samples may miss, unless agents see them.
  void Observe(const Signal& cpu, std::optional<double> limit, SizeUse use,
               const LoadAnalogs* analogs = nullptr, const CountedTasks& counted = {});
  // Nothing was measured of the job in `window`, though of other jobs, since `heard_since_s` at least. True: after
  // a silence of function.silent_s recommended() is the safe count now; false: the count stays, and hold() says
  // so.
  bool TakeUnmeasured(WindowId window, int64_t heard_since_s);
  // How its load has moved since the last time that this was asked.
  LoadMoves TakeMoves() { return std::exchange(moves_, {}); }
  // Of any window, in ascending order. `limit`: of each task, in bytes; absent: not known.
  void ObserveMemory(const Signal& memory, std::optional<double> limit);
  // An answer of an external recommender, or none any more: recommended() follows at once.
  void TakeExternal(std::optional<ExternalTasks> answer);
  // `sentence` of a verdict that decides nothing is kept as hold().
  Verdict Decide(const JobPolicy& policy, int64_t now_s);
  void Explain(Reason& reason) const;
  // For the recommenders of its limits: the CPU limit of a task, absent for the owner's, and its load.
  const TaskSize& task_size() const { return size_; }
  // Why the size is what it is, in place of the recommender's reason, if there is a size.
  void ExplainSize(Reason& cpu) const;
  void Redo(const Decision& decision) { taut::brain::Redo(decision, gate_); }
  // The decision that ordered its number last; 0: none.
  uint64_t order() const { return order_; }
  void NoteOrder(uint64_t decision) {
    order_ = decision;
    failed_ = false;
  }
  // Of that order: whether it is carried out at all. One that failed is given again (kRepeatFailedSeconds).
  // True: that is known anew.
  bool TakeOutcome(uint64_t decision, Outcome outcome);
  // That of the last window, once.
  std::optional<ReplicaStepBack> TakeStepBack() { return std::exchange(step_back_, std::nullopt); }
  // Of an order that is not given as another program sets the number, until this time; absent: none is held.
  std::optional<int64_t> steps_back_until(int64_t now_s) const {
    return now_s < gate_.step_back_until_s ? std::optional(gate_.step_back_until_s) : std::nullopt;
  }
  // The state of the gate of another policy for the same job.
  void TakeGate(const LiveReplicas& other);
  // Windows from here on are of now: the limits before are not those of today.
  void EndPast() {
    capacity_ = task_capacity_;
    moves_.Clear();  // the fleet knows them
  }
  // After a clock that was far ahead: times after `latest_s` are taken for `now_s`.
  void DistrustFuture(int64_t latest_s, int64_t now_s);
  // Settings of the size may have changed: it is weighed anew within the hour.
  void WeighSizeAnew();

  std::optional<int> recommended() const { return recommended_; }
  // Of the policy; see ReplicaPolicy::Forecast.
  std::optional<LoadBand> forecast() const { return policy_->Forecast(); }
  std::optional<int> in_force() const { return gate_.in_force; }
  // Ordered, or in mode observe shown; absent: neither.
  std::optional<int> assumed() const { return gate_.assumed(); }
  // Of the last window measured.
  int running() const { return running_; }
  // For people, where for some windows a series has said another number than is measured, and which counts; "":
  // they agree.
  std::string CountNotice() const;
  bool reads_load() const { return policy_->reads_load(); }
  // Named signals that the policy reads.
  std::span<const std::string> signals() const { return policy_->signals(); }
  // The load is CPU, in cores; false: that of series, in their unit.
  bool is_of_cpu() const { return task_capacity_ == 0; }
  // Absent: not measured in that window.
  std::optional<double> load() const { return load_; }
  // What one task can process; absent: not known.
  std::optional<double> capacity() const { return capacity_ > 0 ? std::optional(capacity_) : std::nullopt; }
  // Of what its running tasks can process; absent: not known.
  std::optional<double> utilization() const;
  // Of its load: more than ReplicaSettings::max_utilization of what its ready tasks could process, at the
  // limits that they ran at.
  const OverloadDay& overload() const { return overload_; }
  const std::string& hold() const { return hold_; }
  // Since when the policy cannot decide the number; hold() says why.
  const ReplicaHold& held() const { return held_; }
  // After Decide or TakeUnmeasured of each window: what has changed of held(). `decides`: DecidesReplicas;
  // where it is false nothing is held, and hold() is empty.
  std::optional<ReplicaHoldChange> TakeHoldChange(int64_t now_s, bool decides);
  std::string_view policy_name() const { return info_->name; }
  // That a task takes until it is ready: another number has to be learnt anew.
  size_t startup_windows() const { return recent_.size(); }

  void Save(ByteWriter& out) const;
  // What Save wrote, for a policy that may be another one by now: then what was learnt is lost, and what was
  // ordered is not. Also for a policy that asks for nothing any more: an order may have to be taken back.
  static absl::StatusOr<std::unique_ptr<LiveReplicas>> Load(ByteReader& in, const JobPolicy& policy);
  // Load could not read what the policy had learnt, as it was of other settings (function.target).
  bool has_lost() const { return has_lost_; }
  size_t state_bytes() const;

 private:
  std::optional<double> LoadOf(const Signal& cpu, const StartSums& starts) const;
  // Of the policy's signals().
  std::span<const double> SignalsOf(const Signal& cpu);
  void NoteMove(double load);
  void NoteOverload(WindowId window, int ready, std::optional<double> limit);
  void NoteTasks(const Signal& cpu, int tasks);
  // The number of tasks that counts.
  int TakeCount(const CountedTasks& counted, int measured);
  // Of the tasks that the policy takes as running, those that are ready: where a number is only shown, or
  // ordered in a dry run, as many as would be if they had been started. `assumed`: the tasks that it takes as
  // running.
  int AssumedReady(int ready, int assumed);
  void SaveAssumed(ByteWriter& out) const;
  absl::Status LoadAssumed(ByteReader& in);
  std::optional<double> ChosenSize(std::optional<double> limit, SizeUse use) const;
  // What is silent for long may be high: the highest count of a day is safe.
  void TakeSilence(WindowId window, const LoadSample& sample);
  bool is_silent() const { return raised_.has_value(); }
  // Why there is no recommendation yet.
  std::string_view WhatLacks() const;
  // What is silent and since when, for people.
  std::string SilentText() const;
  // Why the number is held; "": it is not.
  std::string HeldText() const;
  // Of an order that failed: when it is given again.
  std::string FailedText() const;
  HoldCause HeldFor() const;
  absl::Status LoadSize(std::string_view bytes);
  void LoadMovesOf(std::string_view bytes);
  // As saved: what was learnt of another load is of no use.
  std::string SavedName() const;

  const ReplicaPolicyInfo* info_;
  double task_capacity_;  // ReplicaSettings::task_capacity
  double silent_s_;       // FunctionReplicaSettings::silent_s
  int least_, most_;      // ReplicaBounds
  double max_utilization_;
  std::unique_ptr<ReplicaPolicy> policy_;
  std::unique_ptr<TaskSizer> sizer_;  // null: the size is the owner's
  TaskSize size_;
  ReplicaGateState gate_;
  double capacity_ = 0;  // of a task; 0: not known
  int running_ = 0;
  std::vector<uint32_t> tasks_;  // of the last window, ascending; not saved
  // Not saved: what was said of the last window, whether it counts (absent: no window since the start), and the
  // windows in a row in which it was another number than was measured.
  CountedTasks counted_;
  std::optional<bool> said_counts_;
  int measured_ = 0, disagreeing_ = 0;
  std::optional<ReplicaStepBack> step_back_;
  std::optional<double> load_;
  std::optional<int> recommended_;
  std::string hold_;
  ReplicaHold held_;
  OverloadDay overload_;
  LoadMoves moves_;
  // The loads of the last windows, the newest first; as many as a start-up has. Negative: not measured.
  std::vector<double> recent_;
  SafeCount safe_;
  bool has_lost_ = false;
  std::vector<double> signals_;  // scratch
  // The tasks taken as running in the last windows, the newest last; as many as a start-up has. Empty where all
  // that is taken as running is seen to run.
  std::vector<int> assumed_;
  bool dry_run_ = false;  // no actuator carries out what is ordered
  bool failed_ = false;   // the order in force was not carried out
  uint64_t order_ = 0;
  // Not saved: what the last window lacks of what the policy reads, for people, and the safe count since that
  // has been so for function.silent_s.
  std::string missing_;
  std::optional<int> raised_;
};

}  // namespace taut::brain
