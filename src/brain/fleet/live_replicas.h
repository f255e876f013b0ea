// The number of tasks of one live job: its load, what the policy recommends, and the gate.
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

// What is done with a size that was chosen for the tasks of a job: kOwners: nothing, their limits are not set;
// kWouldBe: it is shown; kOrdered: their limits are set.
enum class SizeUse : uint8_t { kOwners, kWouldBe, kOrdered };

// The number of tasks is asked for: there is a policy, and the mode is not off.
inline bool DecidesReplicas(const JobPolicy& policy) {
  return !policy.replica_policy.empty() && policy.mode != Mode::kOff;
}

// The number of tasks of a job as it is now. Valid until the next change of it.
struct ReplicaFigures {
  std::string_view policy;
  bool is_of_cpu = true;  // the load is CPU, in cores; false: that of series, in their unit
  int running = 0;        // of the last window measured
  std::optional<int> recommended;
  std::optional<int> in_force;            // ordered
  std::optional<double> load;             // absent: not measured in that window
  std::optional<double> capacity;         // what one task can process; absent: not known
  std::optional<double> utilization;      // of what its running tasks can process; absent: not known
  TaskSize size;                          // the CPU limit that is chosen for a task, absent for the owner's
  const OverloadDay* overload = nullptr;  // where the load was more than ReplicaSettings::max_utilization of
                                          // what the ready tasks could process, at the limits they ran at
  std::string_view hold;                  // why the number stays, for people; "": it does not
  ReplicaHold held;                       // since when the policy cannot decide it; `hold` says why
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
  // a silence of function.silent_s the safe count is recommended now; false: the count stays, and figures().hold
  // says so.
  bool TakeUnmeasured(WindowId window, int64_t heard_since_s);
  // How its load has moved since the last time that this was asked.
  LoadMoves TakeMoves() { return std::exchange(moves_, {}); }
  // Of any window, in ascending order. `limit`: of each task, in bytes; absent: not known.
  void ObserveMemory(const Signal& memory, std::optional<double> limit);
  // An answer of an external recommender, or none any more: what is recommended follows at once.
  void TakeExternal(std::optional<ExternalTasks> answer);
  // `sentence` of a verdict that decides nothing is kept as figures().hold.
  Verdict Decide(const JobPolicy& policy, int64_t now_s);
  void Explain(Reason& reason) const;
  // Why the size is what it is, in place of the recommender's reason, if there is a size.
  void ExplainSize(Reason& cpu) const;
  ReplicaOrder& order() { return order_; }
  // Windows from here on are of now: the limits before are not those of today. Orders and holds go on as those of
  // `before`, of the same job; null: there were none.
  void EndPast(const LiveReplicas* before);
  // After a clock that was far ahead: times after `latest_s` are taken for `now_s`.
  void DistrustFuture(int64_t latest_s, int64_t now_s);
  // Takes other settings of its number, which have a policy. False: what was learnt is of no use, and history is
  // wanted. The size is weighed anew within the hour.
  bool ChangePolicy(const JobPolicy& policy);

  ReplicaFigures figures() const;
  const ReplicaPolicy& policy() const { return *policy_; }
  // TaskCount::Notice.
  std::string CountNotice() const { return count_.Notice(); }
  // After Decide or TakeUnmeasured of each window: what has changed of figures().held. `decides`: DecidesReplicas;
  // where it is false nothing is held, and figures().hold is empty.
  std::optional<ReplicaHoldChange> TakeHoldChange(int64_t now_s, bool decides);

  void Save(ByteWriter& out) const;
  // What Save wrote, for a policy that may be another one by now: then what was learnt is lost, and what was
  // ordered is not. Also for a policy that asks for nothing any more: an order may have to be taken back.
  struct Loaded {
    std::unique_ptr<LiveReplicas> replicas;
    bool has_lost = false;  // what the policy had learnt was of other settings (function.target)
  };
  static absl::StatusOr<Loaded> Load(ByteReader& in, const JobPolicy& policy);
  size_t state_bytes() const;

 private:
  bool is_of_cpu() const { return task_capacity_ == 0; }
  // That a task takes until it is ready: another number has to be learnt anew.
  size_t startup_windows() const { return recent_.size(); }
  std::optional<double> utilization() const;
  std::optional<double> LoadOf(const Signal& cpu, const StartSums& starts) const;
  // Of the policy's signals().
  std::span<const double> SignalsOf(const Signal& cpu);
  void NoteMove(double load);
  void NoteOverload(WindowId window, int ready, std::optional<double> limit);
  void NoteTasks(const Signal& cpu, int tasks);
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
  ReplicaOrder order_;
  double capacity_ = 0;  // of a task; 0: not known
  int running_ = 0;
  std::vector<uint32_t> tasks_;  // of the last window, ascending; not saved
  TaskCount count_;
  std::optional<double> load_;
  std::optional<int> recommended_;
  std::string hold_;
  ReplicaHold held_;
  OverloadDay overload_;
  LoadMoves moves_;
  // The loads of the last windows, the newest first; as many as a start-up has. Negative: not measured.
  std::vector<double> recent_;
  SafeCount safe_;
  std::vector<double> signals_;  // scratch
  // Not saved: what the last window lacks of what the policy reads, for people, and the safe count since that
  // has been so for function.silent_s.
  std::string missing_;
  std::optional<int> raised_;
};

}  // namespace taut::brain
