// The number of tasks of one job: its load, the policy's recommendation, and the gate's decision.
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

// Use of the chosen size of a task. kOwners: not used. kWouldBe: only shown. kOrdered: limits are set to the
// size.
enum class SizeUse : uint8_t { kOwners, kWouldBe, kOrdered };

// Returns true if the number of tasks is managed: a replica policy is set, and the mode is not off.
inline bool DecidesReplicas(const JobPolicy& policy) {
  return !policy.replica_policy.empty() && policy.mode != Mode::kOff;
}

// Replica figures of one job: running, recommended and ordered counts, and the load. Valid until the job next
// changes.
struct ReplicaFigures {
  std::string_view policy;
  bool is_of_cpu = true;  // true: the load is CPU in cores; false: a load series in its own unit
  int running = 0;        // tasks in the last measured window
  std::optional<int> recommended;
  std::optional<int> in_force;        // ordered number of tasks; absent: none
  std::optional<double> load;         // load in the last window; absent: not measured
  std::optional<double> capacity;     // load that one task can process; absent: unknown
  std::optional<double> utilization;  // load divided by the capacity of the running tasks; absent: unknown
  TaskSize size;                      // chosen size; an absent value means the owner's limit
  // Overloaded windows: load > ReplicaSettings::max_utilization of the ready tasks' capacity at their limits.
  const OverloadDay* overload = nullptr;
  std::string_view hold;  // reason why the number of tasks is held, for people; "" if it is not held
  ReplicaHold held;       // hold during which the policy cannot decide the number of tasks
};

// Scales the number of tasks of one job. Not thread-safe. The load is the sum of the CPU usage of the job's tasks,
// in cores. The capacity of a task is its CPU limit at the last change of the number of tasks. A later limit that
// follows usage must not change the number of tasks, because the number of tasks changes the usage. With
// SizeBy::kCheapest, the capacity is the chosen size of a task. While limits move to another size, the capacity is
// the smaller size, so that enough tasks run. With ReplicaSettings::task_capacity, the load is the job's load
// series, and the capacity is task_capacity. A policy may read named signals (kOwnSignals and Signal::named). A
// policy that reads no load decides without load and capacity.
class LiveReplicas {
 public:
  LiveReplicas(const ReplicaPolicyInfo& info, const ReplicaSettings& settings);
  // Returns a new object for `policy`; null if the owner sets the number of tasks.
  static std::unique_ptr<LiveReplicas> For(const JobPolicy& policy);

  // Observes a measured window of CPU. `limit`: cores per task; absent: unknown. Without a known limit there is
  // no recommendation, unless the load is a series or the policy reads no load. `analogs`: statistics of other
  // jobs' loads; null: unknown. Unless agents see the tasks, `counted` replaces the number of tasks in `cpu`,
  // because samples may miss tasks.
  void Observe(const Signal& cpu, std::optional<double> limit, SizeUse use,
               const LoadAnalogs* analogs = nullptr, const CountedTasks& counted = {});
  // Records that the job was not measured in `window`, although other jobs were. `heard_since_s`: start of the
  // time in which other jobs were measured without a long gap. Returns true if the safe count is recommended after
  // function.silent_s without data. Otherwise the count stays, and figures().hold has the reason.
  bool TakeUnmeasured(WindowId window, int64_t heard_since_s);
  // Returns and clears the changes of the load since the last call.
  LoadMoves TakeMoves() { return std::exchange(moves_, {}); }
  // Observes a window of memory; windows must ascend. `limit`: bytes per task; absent: unknown.
  void ObserveMemory(const Signal& memory, std::optional<double> limit);
  // Uses an answer of an external recommender; absent: discards the last answer. The recommendation changes at
  // once.
  void TakeExternal(std::optional<ExternalTasks> answer);
  // Returns the decision on the number of tasks. If there is no decision, stores the verdict's sentence as
  // figures().hold.
  Verdict Decide(const JobPolicy& policy, int64_t now_s);
  // Appends an explanation of the recommended number, or the reason why there is none.
  void Explain(Reason& reason) const;
  // Replaces the recommender's reason by the explanation of the chosen size; no effect without a chosen size.
  void ExplainSize(Reason& cpu) const;
  ReplicaOrder& order() { return order_; }
  // Ends a replay of history: later windows are current, and past limits no longer apply. Orders and holds are
  // copied from `before`, the job's previous state; null: no previous state.
  void EndPast(const LiveReplicas* before);
  // Replaces times after `latest_s` by `now_s`, after the clock was far ahead.
  void DistrustFuture(int64_t latest_s, int64_t now_s);
  // Changes the settings. Returns false if learnt state was dropped, so that history is needed. The size of a
  // task is evaluated again within an hour. REQUIRES: the policy exists.
  bool ChangePolicy(const JobPolicy& policy);

  ReplicaFigures figures() const;
  const ReplicaPolicy& policy() const { return *policy_; }
  // Returns the notice of TaskCount for people; "" if none.
  std::string CountNotice() const { return count_.Notice(); }
  // Returns the change of figures().held since the last call; absent: none. Call after Decide or TakeUnmeasured
  // of each window. `decides`: the value of DecidesReplicas; if false, nothing is held and figures().hold is
  // empty.
  std::optional<ReplicaHoldChange> TakeHoldChange(int64_t now_s, bool decides);

  void Save(ByteWriter& out) const;
  // Reads the bytes that Save wrote. If the policy has changed since, the learnt state is dropped and the order
  // is kept. `policy` may lack a replica policy, because an existing order may have to be withdrawn. Returns
  // DataLoss if the bytes are damaged.
  struct Loaded {
    std::unique_ptr<LiveReplicas> replicas;
    bool has_lost = false;  // true if learnt state was dropped, because it belongs to another function.target
  };
  static absl::StatusOr<Loaded> Load(ByteReader& in, const JobPolicy& policy);
  // Copies the fields that Save does not write from a saved object to an object that has loaded the bytes.
  friend void CopyNotSaved(const LiveReplicas& from, LiveReplicas& to);
  size_t state_bytes() const;

 private:
  bool is_of_cpu() const { return task_capacity_ == 0; }
  // Returns the number of windows until a started task is ready. A change of this number invalidates the learnt
  // state.
  size_t startup_windows() const { return recent_.size(); }
  std::optional<double> utilization() const;
  std::optional<double> LoadOf(const Signal& cpu, const StartSums& starts) const;
  // Returns the values of policy_->signals() in the same order; an unknown value is kAbsent.
  std::span<const double> SignalsOf(const Signal& cpu);
  void NoteMove(double load);
  void NoteOverload(WindowId window, int ready, std::optional<double> limit);
  void NoteTasks(const Signal& cpu, int tasks);
  std::optional<double> ChosenSize(std::optional<double> limit, SizeUse use) const;
  // Records missing inputs of the policy. After a long time without inputs, raises the recommendation to the
  // highest count of the last day, because the unmeasured load may be high.
  void TakeSilence(WindowId window, const LoadSample& sample);
  bool is_silent() const { return raised_.has_value(); }
  // Returns the reason why there is no recommendation yet.
  std::string_view WhatLacks() const;
  // Returns a sentence for people with the missing input and the time from which the input is missing.
  std::string SilentText() const;
  // Returns the reason why the number is held; "" if the number is not held.
  std::string HeldText() const;
  HoldCause HeldFor() const;
  absl::Status LoadSize(std::string_view bytes);
  void LoadMovesOf(std::string_view bytes);
  // Returns the name of the policy in saved states. The name includes the kind of load, because state learnt
  // from another load is useless.
  std::string SavedName() const;

  const ReplicaPolicyInfo* info_;
  double task_capacity_;  // value of ReplicaSettings::task_capacity
  double silent_s_;       // value of FunctionReplicaSettings::silent_s
  int least_, most_;      // minimum and maximum of ReplicaBounds
  double max_utilization_;
  std::unique_ptr<ReplicaPolicy> policy_;
  std::unique_ptr<TaskSizer> sizer_;  // sizer of tasks; null: the owner sets their size
  TaskSize size_;
  ReplicaOrder order_;
  double capacity_ = 0;  // capacity of one task; 0: unknown
  int running_ = 0;
  std::vector<uint32_t> tasks_;  // task numbers in the last window, ascending; not saved
  TaskCount count_;
  std::optional<double> load_;
  std::optional<int> recommended_;
  std::string hold_;
  ReplicaHold held_;
  OverloadDay overload_;
  LoadMoves moves_;
  // Loads of the last startup_windows() windows, newest first. A negative value means not measured.
  std::vector<double> recent_;
  SafeCount safe_;
  std::vector<double> signals_;  // scratch memory of SignalsOf
  // Not saved. missing_: human-readable names of the policy's inputs that the last window lacks. raised_: the safe
  // count after inputs have been missing for function.silent_s; absent before.
  std::string missing_;
  std::optional<int> raised_;
};

}  // namespace taut::brain
