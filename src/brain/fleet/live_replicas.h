// The number of tasks of one job: its load, the policy's recommendation, and the gate.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/fleet/overload_day.h"
#include "brain/fleet/replica_hold.h"
#include "brain/fleet/replica_order.h"
#include "brain/fleet/task_count.h"
#include "brain/recommend/recommender.h"
#include "brain/replicas/policies.h"
#include "brain/replicas/silence.h"
#include "brain/replicas/task_sizer.h"
#include "brain/rollout/job_policy.h"
#include "common/base/bytes.h"
#include "common/model/reason.h"
#include "common/model/signal.h"
#include "common/model/start_usage.h"

namespace taut::brain {

// Use of the chosen size of a task. kOwners: the size is not used. kWouldBe: the size is only shown. kOrdered:
// limits are set to the size.
enum class SizeUse : uint8_t { kOwners, kWouldBe, kOrdered };

// Returns true if the number of tasks is managed: a replica policy is set, and the mode is not off.
inline bool DecidesReplicas(const JobPolicy& policy) {
  return !policy.replica_policy.empty() && policy.mode != Mode::kOff;
}

// Replica figures of one job: running, recommended and ordered counts, and the load. Valid until the job next
// changes.
struct ReplicaFigures {
  std::string_view policy;
  bool is_of_cpu = true;  // true: the load is CPU, in cores; false: a load series in its own unit
  int running = 0;        // tasks in the last measured window
  std::optional<int> recommended;
  std::optional<int> in_force;        // ordered number; absent: none
  std::optional<double> load;         // absent: not measured in the last window
  std::optional<double> capacity;     // load that one task can process; absent: unknown
  std::optional<double> utilization;  // load over the capacity of the running tasks; absent: unknown
  TaskSize size;                      // chosen size; absent values: the owner's limits
  // Overloaded windows: load > ReplicaSettings::max_utilization of the ready tasks' capacity at their limits.
  const OverloadDay* overload = nullptr;
  std::string_view hold;  // why the number is held, for people; "": not held
  ReplicaHold held;       // since when the policy cannot decide the number
};

// Scales the number of tasks of one job. Not thread-safe.
// The load is the sum of the CPU usage of the job's tasks, in cores. The capacity of a task is the CPU limit at
// the last change of the number of tasks. A limit that follows usage must not change the number of tasks, since
// the number changes the usage (A15).
// With SizeBy::kCheapest the capacity is the chosen size of a task. While limits move to another size, the
// capacity is the smaller size, so that enough tasks run first. With ReplicaSettings::task_capacity the load is
// the job's load series, and the capacity is task_capacity. A policy may read named signals (kOwnSignals and
// Signal::named); a policy that reads no load decides without load and capacity.
class LiveReplicas {
 public:
  LiveReplicas(const ReplicaPolicyInfo& info, const ReplicaSettings& settings);
  // Returns a new state for `policy`; null if the owner sets the number of tasks.
  static std::unique_ptr<LiveReplicas> For(const JobPolicy& policy);

  // Observes a measured window of CPU. `limit`: cores per task; absent: unknown. Until a limit is known there is
  // no recommendation, unless the load is a series or the policy reads no load. `analogs`: how other jobs' loads
  // move; null: unknown. Unless agents see the tasks, `counted` overrides the number of tasks in `cpu`, because
  // samples may miss tasks.
  void Observe(const Signal& cpu, std::optional<double> limit, SizeUse use,
               const LoadAnalogs* analogs = nullptr, const CountedTasks& counted = {});
  // Notes that the job was not measured in `window`, while other jobs were, without a long gap since
  // `heard_since_s`. Returns true if the safe count is recommended now, after function.silent_s of silence;
  // false if the count stays, which figures().hold explains.
  bool TakeUnmeasured(WindowId window, int64_t heard_since_s);
  // Returns the changes of the load since the last call, and clears them.
  LoadMoves TakeMoves() { return std::exchange(moves_, {}); }
  // Observes a window of memory; windows must ascend. `limit`: bytes per task; absent: unknown.
  void ObserveMemory(const Signal& memory, std::optional<double> limit);
  // Uses an answer of an external recommender; absent: drops the last answer. The recommendation changes at once.
  void TakeExternal(std::optional<ExternalTasks> answer);
  // Returns the decision on the number of tasks. The sentence of a verdict without a decision is kept as
  // figures().hold.
  Verdict Decide(const JobPolicy& policy, int64_t now_s);
  // Explains the recommended number, or why there is no recommendation.
  void Explain(Reason& reason) const;
  // Replaces the recommender's reason by the explanation of the chosen size; no effect without a chosen size.
  void ExplainSize(Reason& cpu) const;
  ReplicaOrder& order() { return order_; }
  // Ends a replay of history: later windows are current, and limits of the past no longer apply. Orders and
  // holds continue from `before`, the job's previous state; null: there was none.
  void EndPast(const LiveReplicas* before);
  // After the clock was far ahead: replaces times after `latest_s` by `now_s`.
  void DistrustFuture(int64_t latest_s, int64_t now_s);
  // Changes the settings; the policy must exist. Returns false if the learnt state is lost and history is needed.
  // The size of a task is evaluated again within the hour.
  bool ChangePolicy(const JobPolicy& policy);

  ReplicaFigures figures() const;
  const ReplicaPolicy& policy() const { return *policy_; }
  // Returns TaskCount::Notice().
  std::string CountNotice() const { return count_.Notice(); }
  // Returns the change of figures().held since the last call; absent: none. Call after Decide or TakeUnmeasured of
  // each window. `decides`: DecidesReplicas; if false, nothing is held and figures().hold is empty.
  std::optional<ReplicaHoldChange> TakeHoldChange(int64_t now_s, bool decides);

  void Save(ByteWriter& out) const;
  // Reads the bytes that Save wrote. If the policy has changed since, the learnt state is lost, but not the order.
  // `policy` may be without a replica policy, since an order may have to be taken back. Returns DataLoss if the
  // bytes are damaged.
  struct Loaded {
    std::unique_ptr<LiveReplicas> replicas;
    bool has_lost = false;  // learnt state belonged to other settings (function.target) and was dropped
  };
  static absl::StatusOr<Loaded> Load(ByteReader& in, const JobPolicy& policy);
  size_t state_bytes() const;

 private:
  bool is_of_cpu() const { return task_capacity_ == 0; }
  // Returns the number of windows that a task takes to become ready. A change of this number invalidates the
  // learnt state.
  size_t startup_windows() const { return recent_.size(); }
  std::optional<double> utilization() const;
  std::optional<double> LoadOf(const Signal& cpu, const StartSums& starts) const;
  // Returns the values of policy_->signals(), in their order; kAbsent if unknown.
  std::span<const double> SignalsOf(const Signal& cpu);
  void NoteMove(double load);
  void NoteOverload(WindowId window, int ready, std::optional<double> limit);
  void NoteTasks(const Signal& cpu, int tasks);
  std::optional<double> ChosenSize(std::optional<double> limit, SizeUse use) const;
  // Notes whether inputs are missing. After long silence, raises the recommendation to the highest count of
  // the last day, since an unmeasured load may be high.
  void TakeSilence(WindowId window, const LoadSample& sample);
  bool is_silent() const { return raised_.has_value(); }
  // Returns why there is no recommendation yet.
  std::string_view WhatLacks() const;
  // Returns a sentence for people: which input is silent, and since when.
  std::string SilentText() const;
  // Returns why the number is held; "" if the number is not held.
  std::string HeldText() const;
  HoldCause HeldFor() const;
  absl::Status LoadSize(std::string_view bytes);
  void LoadMovesOf(std::string_view bytes);
  // Returns the name of the policy in saved states, which includes the kind of load, since state learnt from
  // another load is useless.
  std::string SavedName() const;

  const ReplicaPolicyInfo* info_;
  double task_capacity_;  // ReplicaSettings::task_capacity
  double silent_s_;       // FunctionReplicaSettings::silent_s
  int least_, most_;      // ReplicaBounds
  double max_utilization_;
  std::unique_ptr<ReplicaPolicy> policy_;
  std::unique_ptr<TaskSizer> sizer_;  // null: the owner sets the size
  TaskSize size_;
  ReplicaOrder order_;
  double capacity_ = 0;  // capacity of one task; 0: unknown
  int running_ = 0;
  std::vector<uint32_t> tasks_;  // tasks of the last window, ascending; not saved
  TaskCount count_;
  std::optional<double> load_;
  std::optional<int> recommended_;
  std::string hold_;
  ReplicaHold held_;
  OverloadDay overload_;
  LoadMoves moves_;
  // Loads of the last windows of a start-up time, newest first. Negative: not measured.
  std::vector<double> recent_;
  SafeCount safe_;
  std::vector<double> signals_;  // scratch
  // Not saved. missing_: the policy's inputs that the last window lacks, for people. raised_: the safe count, once
  // inputs have been missing for function.silent_s.
  std::string missing_;
  std::optional<int> raised_;
};

}  // namespace taut::brain
