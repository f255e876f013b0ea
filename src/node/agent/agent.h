// The agent of one machine, without its main loop. The agent finds and measures tasks, reports them to the daemon,
// carries out the daemon's orders, and acts by itself when a task is killed or throttled. Time is an argument;
// finders, uplink and ledger are passed in. Not thread-safe: all calls must come from one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "agent.pb.h"
#include "common/model/tier_act.h"
#include "node/agent/agent_task.h"
#include "node/agent/ledger.h"
#include "node/agent/memory_guard.h"
#include "node/agent/memory_source.h"
#include "node/agent/probe_selection.h"
#include "node/agent/process_table.h"
#include "node/agent/tier_options.h"
#include "node/agent/uplink.h"

namespace taut::node {

// The set of descriptors that the loop waits on (epoll). When a descriptor is ready, the loop passes its `key` to
// Agent::OnReady.
class FdWatch {
 public:
  virtual ~FdWatch() = default;
  virtual void Add(const Wakeup& wakeup, uint64_t key) = 0;
  virtual void Remove(int fd) = 0;
};

struct AgentOptions {
  bool observe = false;
  double speed = 1;
  MoverOptions moves;  // durations in steady time, which the caller has divided by `speed`
  std::vector<TaskRule> rules;
  double machine_memory_bytes = 0;  // local raises stop at 95 % of this amount; 0: unknown
  int all_every = 10;               // number of samples between two readings of all files of a task
  TierOptions tiers;
  ProbeSelection probe;
  bool has_memory_high = false;  // true on cgroup v2, where tasks can be throttled
  bool has_shares = false;       // true on cgroup v1, where weights become cpu.shares
  // Paths of this process's cgroups. The agent never acts on a group that contains one of these groups.
  std::vector<std::string> own_groups;
};

struct AgentCounts {
  uint64_t samples = 0, windows = 0, ooms = 0, read_errors = 0;
  uint64_t orders = 0, writes = 0, refused_writes = 0, local_raises = 0, foreign_changes = 0, resets = 0;
  uint64_t jumps = 0;
  uint64_t guard_throttles = 0, guard_kills = 0;  // acts of the guard of the machine's memory
};

// The figures on which the guard of the machine's memory based an act.
struct GuardFigures {
  std::optional<MemoryNow> memory;  // absent: memory could not be read
  GuardTask task;
};

// An act or observation of the agent, for the log. `action` is one of "limit_set", "limit_raised",
// "limit_released", "limit_held", "limit_refused", "oom_kill", "owner_changed", "limit_reset", "probe_started" and
// "probe_ended"; for the machine's memory also "task_throttled", "task_unthrottled", "task_killed" and
// "task_not_killed". An "oom_kill" at a limit above the task, or because the machine is out of memory, has
// `guard` and no resource.
struct AgentAct {
  std::string_view action;
  std::string job = {}, task = {};
  std::optional<Resource> resource = std::nullopt;
  std::optional<double> from = std::nullopt, to = std::nullopt;  // limits before and after; absent: none
  uint64_t decision = 0, kills = 0;
  std::string text = {};
  std::optional<GuardFigures> guard = std::nullopt;
};

class Agent {
 public:
  // All members must outlive the agent. `watch` may be null.
  struct Parts {
    std::vector<TaskFinder*> finders;
    Uplink* uplink = nullptr;
    Ledger* ledger = nullptr;
    FdWatch* watch = nullptr;
    MemorySource* memory = nullptr;     // read by the guard (options.tiers.guard); null: the guard is off
    ProcessTable* processes = nullptr;  // null: oom_score_adj is not changed
  };
  Agent(AgentOptions options, const Parts& parts);
  ~Agent();

  // Updates the list of tasks from all finders. If a finder fails, its tasks stay, and errors() contains the
  // reason.
  void Find(const NodeTime& now);
  // Reads every task once, sends the windows that ended, moves limits by one step, and runs guard and probes.
  // O(tasks).
  void Sample(const NodeTime& now);
  // Handles a ready descriptor that the agent had added to the watch.
  void OnReady(uint64_t key, const NodeTime& now);
  // True while a task may have been killed and the kernel has not counted the kill yet: the kernel wakes the agent
  // before it counts a kill. Call Recheck every few milliseconds while the result is true, which is at most half a
  // second.
  bool wants_recheck() const { return !suspects_.empty(); }
  void Recheck(const NodeTime& now);
  // Returns the steady time at which GuardAgain is due, between samples; INT64_MAX if there is no guard.
  int64_t guard_due_us() const;
  // Runs the guard between samples. `is_woken`: memory in use passed a threshold. A call within 10 ms of the
  // last run is postponed; guard_due_us() then returns the time at which it is due.
  void GuardAgain(const NodeTime& now, bool is_woken = false);
  // Receives the daemon's messages since the last call and carries them out at once.
  void TakeOrders(const NodeTime& now);
  // Sends a heartbeat and pending outcomes. The arguments are the agent's own cost, as measured by the loop: share
  // of a core, and bytes.
  void Beat(double cpu_share, uint64_t resident_bytes);
  // Sends the windows that are still open and restores the values that tiers, guard and probe replaced. Limits
  // that tautd ordered stay in force.
  void Stop(const NodeTime& now);

  // Current errors as human-readable texts, by subject; an entry disappears with its cause.
  const std::map<std::string, std::string>& errors() const { return errors_; }
  const AgentCounts& counts() const { return counts_; }
  // Returns the acts since the last call, oldest first: at most the last 10,000.
  std::vector<AgentAct> TakeActs() { return std::exchange(acts_, {}); }
  size_t tasks() const { return tasks_.size(); }
  const AgentTask* FindTask(const std::string& job, const std::string& task) const;
  void ForEachTask(const std::function<void(const AgentTask&)>& fn) const;

 private:
  using Name = std::pair<std::string, std::string>;  // job, task
  // The watch keys of finders begin here, above all task ids.
  static constexpr uint64_t kFinderKeys = uint64_t{1} << 62;
  static constexpr uint64_t kMemoryKey = kFinderKeys - 1;  // watch key of parts_.memory
  // A task that ended less than 10 minutes ago. A new task of the same name continues with the lanes of the
  // ended task. An OOM kill that is reported late can still be assigned to the ended task.
  struct Departed {
    FoundTask found;
    const TaskRule* rule = nullptr;
    std::vector<LimitLane> lanes;
    std::optional<double> memory_limit, owner_memory;
    int64_t since_us = 0;
    OomTally ooms;
  };

  void FindWith(size_t finder, const NodeTime& now);
  void AddTask(size_t finder, const FoundTask& found, const NodeTime& now);
  void RemoveTask(uint64_t id, const NodeTime& now);
  // Deletes ledger entries of tasks that no longer exist: nothing is left to restore.
  void TidyLedger(const NodeTime& now);
  void TaskError(size_t finder, const std::string& identity, std::string text);
  void ClearTaskError(const std::string& identity);
  // Compares the kernel's limits with the limits that the agent set; a change by another program becomes the
  // owner's value. `came_back`: the task ended and started again since the last comparison.
  void CompareLimits(AgentTask& task, const NodeTime& now, bool came_back = false);
  // If another program changed the limit `kind`, stores the present value as the owner's and returns true. Returns
  // false if the task's service manager reset the limit, which is then set again.
  bool TakeOthersChange(AgentTask& task, LimitKind kind, bool came_back, const NodeTime& now);
  void AdoptLedger(AgentTask& task, bool came_back, const NodeTime& now);
  // Moves the state of the last task of this name, which ended less than 10 minutes ago, into `task`. Returns
  // false if there is no such task.
  bool AdoptDeparted(AgentTask& task, const Name& name);
  void NoteStart(AgentTask& task, const NodeTime& now);
  // Prevents cuts until the start-up grace of the task's rule, or of its job's terms, is over.
  void HoldInGrace(AgentTask& task);
  // Records in the ledger the state of a lane that must survive a restart: floors and the time of the owner's
  // change. The next Save writes this state.
  void NoteHold(const FoundTask& task, const LimitLane& lane, Resource r, const NodeTime& now);
  void RestoreHolds(AgentTask& task, const LedgerEntry& entry, const NodeTime& now);
  // Saves the ledger. Returns false, with the reason in errors_, if the file could not be written.
  bool SaveLedger();
  // Sets the values that the task's tier requests (none if not `is_on`). Restores values that an earlier
  // start or another configuration had set.
  void SetByTier(AgentTask& task, bool is_on);
  int WeightByTier(const AgentTask& task) const;
  // Returns the weight in units of LimitKind::kCpuWeight. On cgroup v1, cpu.shares that are computed from the
  // result have the ratios of the tiers' weights.
  double KernelWeight(int weight) const;
  std::optional<double> RequestOf(const AgentTask& task) const;
  // Returns the value that the tier requests for this kind of limit; nullopt if it requests no value.
  std::optional<LimitValue> WantedByTier(const AgentTask& task, LimitKind kind) const;
  // Returns the value to restore once the tier requests nothing; nullopt if the present value stays.
  std::optional<LimitValue> LeftOver(const AgentTask& task, LimitKind kind) const;
  // Saves the intent in the ledger, writes the kernel, then saves the result: if the agent is killed in between,
  // the ledger contains both values.
  absl::Status WriteNow(AgentTask& task, LimitKind kind, LimitValue value);
  // ---- oom_score_adj (agent_scores.cc) ----
  bool MayBeScored(const AgentTask& task) const;
  // Sets oom_score_adj of the task's new processes to the value of the task's tier. `paths` must be the result of
  // GroupPaths().
  void ScoreProcesses(AgentTask& task, const std::set<std::string_view>& paths);
  void SetScores(AgentTask& task, const std::vector<ProcessId>& processes);
  // Restores oom_score_adj of processes that left the task, unless another program has changed the value
  // since.
  void RestoreLeavers(const std::vector<std::pair<ProcessId, int>>& left, int set);
  // Restores oom_score_adj of the task's processes to the owners' values that the ledger contains.
  void ReleaseScoresOf(AgentTask& task, const std::set<std::string_view>& paths);
  // Returns the cgroup paths of all tasks. A group within another task's group is a task of its own.
  std::set<std::string_view> GroupPaths() const;
  // Reads the usage of tasks that the guard may act on. Returns the ids of the tasks whose usage grew by 256
  // KiB or more.
  std::vector<uint64_t> RefreshForGuard(const NodeTime& now);

  // Reads the memory of the machine or of the guarded group. Returns nullopt if there is no guard or the
  // memory cannot be read now.
  std::optional<MemoryNow> ReadMemory();
  void GuardMemory(const MemoryNow& memory, const NodeTime& now);
  std::vector<GuardTask> GuardTasks() const;
  using TierByPath = std::multimap<std::string, Tier>;  // tiers of all tasks by cgroup path
  bool MayBeGuarded(const AgentTask& task, const TierByPath& tiers) const;
  void CarryOut(const GuardAct& act, const GuardFigures& figures, const NodeTime& now);
  void BeginThrottle(AgentTask& task, const GuardAct& act, const GuardFigures& figures, const NodeTime& now);
  void KillTask(AgentTask& task, const GuardAct& act, const GuardFigures& figures, const NodeTime& now);
  absl::Status Throttle(AgentTask& task, double high);
  // Restores memory.high as it was before the throttle. `why` is the reason for the log and for tautd.
  void EndThrottle(AgentTask& task, const GuardFigures& figures, std::string why, const NodeTime& now);
  // Sets memory.high to `before`, unless it already has this value or another program has changed it.
  void RestoreHigh(AgentTask& task, LimitValue before);
  // ---- acts of the guard, reported to tautd (agent_acts.cc) ----
  GuardFigures FiguresOf(const AgentTask& task) const;
  taut::agent::v1::TierAct ActOf(TierActKind kind, const AgentTask& task, const GuardFigures& figures,
                                 std::string why, const NodeTime& now) const;
  // Adds the act to the ledger, which the next Save writes. If the agent is killed before it reports the act,
  // its next start reports it.
  void NoteAct(const taut::agent::v1::TierAct& act, ActState state);
  void DropAct(const taut::agent::v1::TierAct& act);
  // Adds the act to the log and sends it to tautd.
  void ReportAct(const taut::agent::v1::TierAct& act, const AgentTask& task, const GuardFigures& figures);
  void SendAct(const taut::agent::v1::TierAct& act);
  // Reports the end of the task's throttle. Does nothing if the task is not throttled.
  void EndThrottleAct(AgentTask& task, const GuardFigures& figures, std::string why, const NodeTime& now);
  // Reports the acts that an earlier run of the agent left in the ledger because the agent was killed.
  void ReportOldActs(const NodeTime& now);
  // ---- probing (agent_probe.cc) ----
  void ProbeMemory(const NodeTime& now);
  void StepProbe(AgentTask& task, const NodeTime& now);
  // Restores the owner's memory.high if the task is probed. The probe's result is kept.
  void EndProbe(AgentTask& task, std::string why);
  bool MayBeProbed(const AgentTask& task) const;
  // True if the task's group contains neither another task nor this agent. `paths`: cgroup paths of all
  // tasks, ascending.
  bool StandsAlone(const AgentTask& task, const std::vector<std::string>& paths) const;
  // True if a probed task is due for a reading of all its files.
  bool IsProbeRead(const AgentTask& task, const NodeTime& now) const;
  void Look(AgentTask& task, ReadDepth depth, const NodeTime& now);
  void TakeEvent(const TaskEvent& event, const NodeTime& now);
  void CheckOom(AgentTask& task, const TaskReading& reading, const NodeTime& now);
  // Raises the memory limit at once if usage is expected to reach it before the next decision.
  void CheckGrowth(AgentTask& task, const NodeTime& now);
  std::optional<double> GrowthBound(const AgentTask& task, std::optional<double> owner) const;
  // Counts kills that were not counted yet, so that they are compared with the limit in force until now.
  void CountKills(AgentTask& task, const NodeTime& now);
  // Records new limit_ooms of the reading. Returns true if the task's own limit was met in the last 5 s;
  // otherwise a kill has another cause.
  bool NoteLimitOoms(AgentTask& task, const TaskReading& reading, const NodeTime& now);
  // Returns true if a kill may be due to the task's own limit: no group above met its limit, and the task's peak
  // was near the task's limit. Used with kernels that do not count how often the limit was met.
  bool MayBeOwnKill(const AgentTask& task, const TaskReading& reading) const;
  void ReadAbove(AgentTask& task, const NodeTime& now);
  // Reports a kill at a limit above the task, or for lack of machine memory. No limit is raised.
  void OnKernelKill(AgentTask& task, uint64_t kills, const NodeTime& now);
  void OnOom(AgentTask& task, uint64_t kills, const NodeTime& now);
  void CheckThrottling(AgentTask& task, const TaskReading& reading, const NodeTime& now);
  // ---- control of throttling (agent_throttle.cc) ----
  // Returns the bounds within which the task's CPU limit may be moved; nullopt: the ordered limit stays.
  std::optional<ThrottleBounds> ThrottleBoundsOf(const AgentTask& task, const NodeTime& now) const;
  // Moves the CPU limit by at most one step. Returns false if throttling of this task is not controlled.
  bool ControlThrottling(AgentTask& task, const ThrottleReading& reading, const NodeTime& now);
  // Ends the control if its conditions no longer hold; the next move restores the ordered limit.
  void CheckThrottleControl(AgentTask& task, const NodeTime& now);
  static void EndThrottleControl(AgentTask& task);
  void TakeThrottleTerms(const taut::agent::v1::Terms& terms);
  // Writes a limit that the agent raised by itself. `why` must be a literal: the lane keeps a view of the
  // text.
  void MoveRaised(AgentTask& task, LimitLane& lane, std::string_view why, const NodeTime& now);
  // Handles an OOM kill of a task that has ended: the task's next start gets a higher limit.
  void OnLateOom(Departed& task, uint64_t kills, const NodeTime& now);
  void TellOom(const FoundTask& task, uint64_t kills, std::optional<double> limit,
               std::optional<double> raised, const NodeTime& now);
  // Returns the highest limit to which the agent may raise by itself; nullopt: unbounded. `above`: limit of
  // the groups above the task; absent if they have no limit.
  std::optional<double> UpperOf(const FoundTask& task, const TaskRule& rule, Resource r,
                                std::optional<double> above) const;
  std::optional<double> UpperOf(const AgentTask& task, Resource r) const {
    return UpperOf(task.found, *task.rule, r, LimitInForce(task, r, {}));
  }
  bool MayRaise(const FoundTask& task, const TaskRule& rule) const;
  void Order(const taut::agent::v1::Order& order, const NodeTime& now);
  // Returns the reason why the agent never sets this limit of the task; "" if the agent may set it.
  std::string WhyNotSet(const AgentTask& task, Resource r) const;
  // Returns the time at which the order was decided, in seconds of this machine's clock; 0 if the order has no
  // time.
  static int64_t DecidedAt(LimitLane& lane, int64_t decided_s, const NodeTime& now);
  void TakeTerms(const taut::agent::v1::Terms& terms);
  // Moves the limits of these tasks one step towards their targets: saves the intended writes in the ledger,
  // writes the kernel's files, then reports the outcomes.
  void Move(const std::vector<AgentTask*>& tasks, const NodeTime& now);
  struct Step {
    AgentTask* task;
    Resource r;
    std::optional<double> limit;
    LimitWrites writes;
  };
  // Returns the next write of this limit; nullopt if no write is due now.
  std::optional<Step> PlanStep(AgentTask& task, Resource r, const NodeTime& now);
  void Carry(const Step& step, const NodeTime& now);
  // Adds an act for TakeActs.
  void Act(const FoundTask& task, AgentAct act);
  void ActOnTarget(AgentTask& task, Resource r);
  void Report(AgentTask& task, Resource r, const NodeTime& now);
  void Say(const AgentTask& task, Resource r, taut::agent::v1::Outcome::Result result, std::string text,
           const NodeTime& now);
  void SendWindows(const NodeTime& now);
  void SendTasks(bool all);
  void SendOutcomes();
  void Send(taut::agent::v1::FromAgent message, Keep keep);

  const AgentOptions options_;
  const Parts parts_;
  // Terms of the control of throttling, by job. Kept in memory only: tautd sends them with each connection.
  std::map<std::string, taut::agent::v1::ThrottleControl> throttle_terms_;
  MemoryGuard guard_;
  std::optional<MemoryNow> memory_now_;  // last reading; absent: no guard, or memory could not be read
  int64_t guarded_us_ = INT64_MIN / 2, scored_us_ = INT64_MIN / 2;
  // True if a GuardAgain call was postponed because it was made within kLeastGuardUs of the last run.
  bool is_guard_awaited_ = false;
  bool old_acts_reported_ = false;
  std::map<uint64_t, std::unique_ptr<AgentTask>> tasks_;  // keyed by id, which is also the watch's key
  uint64_t last_id_ = 0;
  absl::flat_hash_map<std::string, uint64_t> by_identity_;
  absl::flat_hash_map<Name, uint64_t> by_name_;
  std::map<Name, Departed> departed_;
  std::map<std::string, std::string> errors_;
  // Errors in errors_ that are about a task: the task's identity, and the index of its finder.
  std::map<std::string, size_t> task_errors_;
  int64_t tidied_us_ = INT64_MIN;
  AgentCounts counts_;
  std::vector<AgentAct> acts_;
  std::vector<bool> looked_;  // indexed by finder: true once Find of this finder succeeded
  uint64_t sample_ = 0;
  Timestamp measured_{0};                 // Node time up to which all ended windows have been sent.
  std::map<uint64_t, int64_t> suspects_;  // keyed by task id: steady time until which Recheck reads the task
  // Changes to report with the next SendTasks.
  std::vector<uint64_t> fresh_;
  std::map<Name, taut::agent::v1::TaskName> gone_;
  std::map<WindowId, std::vector<std::pair<uint64_t, NodeWindow>>> windows_;
  std::map<WindowId, taut::agent::v1::Windows> of_departed_;  // windows of tasks that have ended
  taut::agent::v1::Outcomes outcomes_;
};

}  // namespace taut::node
