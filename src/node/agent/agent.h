// The agent without its loop: finds tasks, measures them, tells the daemon, carries out what it orders, and
// looks after tasks by itself when one is killed or throttled. Time is an argument; hands, uplink and ledger
// are handed in. Not thread-safe: one thread.
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

// Descriptors to wait on: the loop's epoll. `key` comes back through Agent::OnReady.
class FdWatch {
 public:
  virtual ~FdWatch() = default;
  virtual void Add(const Wakeup& wakeup, uint64_t key) = 0;
  virtual void Remove(int fd) = 0;
};

struct AgentOptions {
  bool observe = false;
  double speed = 1;
  MoverOptions moves;  // its times are steady ones: divide them by `speed`
  std::vector<TaskRule> rules;
  double machine_memory_bytes = 0;  // no local raise goes above 95 % of it; 0: not known
  int all_every = 10;               // every this many samples all files of a task are read
  TierOptions tiers;
  ProbeSelection probe;
  bool has_memory_high = false;         // cgroup v2: tasks can be throttled
  bool has_shares = false;              // cgroup v1: weights become cpu.shares
  std::vector<std::string> own_groups;  // paths of this process's cgroups: none that has it in it is acted on
};

struct AgentCounts {
  uint64_t samples = 0, windows = 0, ooms = 0, read_errors = 0;
  uint64_t orders = 0, writes = 0, refused_writes = 0, local_raises = 0, foreign_changes = 0;
  uint64_t jumps = 0;
  uint64_t guard_throttles = 0, guard_kills = 0;  // for the machine's memory
};

// What was known when the guard of the machine's memory acted.
struct GuardFigures {
  std::optional<MemoryNow> memory;  // absent: it could not be read
  GuardTask task;
};

// One thing that the agent did or saw, for the log: "limit_set", "limit_raised", "limit_released",
// "limit_held", "limit_refused", "oom_kill", "owner_changed"; for the machine's memory "task_throttled",
// "task_unthrottled", "task_killed", "task_not_killed". An "oom_kill" at a limit above the task, or for want of
// the
// machine's memory, has `guard`, and no resource.
struct AgentAct {
  std::string_view action;
  std::string job = {}, task = {};
  std::optional<Resource> resource = std::nullopt;
  std::optional<double> from = std::nullopt, to = std::nullopt;  // limits; absent: none
  uint64_t decision = 0, kills = 0;
  std::string text = {};
  std::optional<GuardFigures> guard = std::nullopt;
};

class Agent {
 public:
  // All must outlive it. `watch` may be null.
  struct Parts {
    std::vector<TaskFinder*> finders;
    Uplink* uplink = nullptr;
    Ledger* ledger = nullptr;
    FdWatch* watch = nullptr;
    MemorySource* memory = nullptr;     // what options.tiers.guard looks at; null: nothing is guarded
    ProcessTable* processes = nullptr;  // null: no oom_score_adj is set
  };
  Agent(AgentOptions options, const Parts& parts);
  ~Agent();

  // Looks what tasks there are. What a finder cannot say now stays as it was; why is in errors().
  void Find(const NodeTime& now);
  // Reads every task once, closes windows, steps limits.
  void Sample(const NodeTime& now);
  // A descriptor that was given to the watch is ready.
  void OnReady(uint64_t key, const NodeTime& now);
  // The kernel wakes us when a task meets its limit and counts the kill a little later: while this holds,
  // call Recheck each few milliseconds. It holds for half a second at most.
  bool wants_recheck() const { return !suspects_.empty(); }
  void Recheck(const NodeTime& now);
  // The guard of memory between samples: call GuardAgain when its time (steady) has come. INT64_MAX: nothing is
  // guarded.
  int64_t guard_due_us() const;
  // `is_woken`: memory in use passed a threshold.
  void GuardAgain(const NodeTime& now, bool is_woken = false);
  // What the daemon said since the last time, carried out at once.
  void TakeOrders(const NodeTime& now);
  // A heartbeat: the loop passes the agent's own cost.
  void Beat(double cpu_share, uint64_t resident_bytes);
  // Sends the windows that are still open. Limits stay as they are, but for those that tiers set: they are
  // their owners' again.
  void Stop(const NodeTime& now);

  // For people: what could not be done, by what it was about; only what holds now.
  const std::map<std::string, std::string>& errors() const { return errors_; }
  const AgentCounts& counts() const { return counts_; }
  // What was done since the last call, oldest first; at most the last 10,000.
  std::vector<AgentAct> TakeActs() { return std::exchange(acts_, {}); }
  size_t tasks() const { return tasks_.size(); }
  const AgentTask* FindTask(const std::string& job, const std::string& task) const;
  void ForEachTask(const std::function<void(const AgentTask&)>& fn) const;

 private:
  using Name = std::pair<std::string, std::string>;           // job, task
  static constexpr uint64_t kFinderKeys = uint64_t{1} << 62;  // the watch's keys of finders, above all ids
  static constexpr uint64_t kMemoryKey = kFinderKeys - 1;     // of parts_.memory
  // A task that is gone, so that one of its name that starts again starts with what it had, and an OOM kill
  // that is reported only now still has a task.
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
  // Forgets limits of tasks that are gone for good: they need no way back.
  void TidyLedger(const NodeTime& now);
  void TaskError(size_t finder, const std::string& identity, std::string text);
  void ClearTaskError(const std::string& identity);
  // What the kernel has now against what we set: another's change is the owner's word.
  // `came_back`: since the task ended and started again, not since the last look.
  void CompareLimits(AgentTask& task, const NodeTime& now, bool came_back = false);
  // Was `kind` changed by another program? Then its value is the owner's.
  bool TakeOthersChange(AgentTask& task, LimitKind kind, bool came_back);
  void AdoptLedger(AgentTask& task, bool came_back, const NodeTime& now);
  // False if no task of this name ended lately.
  bool AdoptDeparted(AgentTask& task, const Name& name);
  void NoteStart(AgentTask& task, const NodeTime& now);
  // Nothing of the task is lowered before its start-up grace, of its rule or its job's terms, is over.
  void HoldInGrace(AgentTask& task);
  // Into the ledger, to be saved with the next write: what a restart must not forget of this lane.
  void NoteHold(const FoundTask& task, const LimitLane& lane, Resource r, const NodeTime& now);
  void RestoreHolds(AgentTask& task, const LedgerEntry& entry, const NodeTime& now);
  // False: it could not be written, and errors_ says why.
  bool SaveLedger();
  // What its tier asks for (or, not `is_on`, nothing), and the end of what an earlier life of the agent or
  // another configuration asked for.
  void SetByTier(AgentTask& task, bool is_on);
  int WeightByTier(const AgentTask& task) const;
  // As LimitKind::kCpuWeight counts: on v1 so that the shares have the ratios of the weights.
  double KernelWeight(int weight) const;
  std::optional<double> RequestOf(const AgentTask& task) const;
  // By kind: what the tier asks for; nullopt: nothing.
  std::optional<LimitValue> WantedByTier(const AgentTask& task, LimitKind kind) const;
  // What is to be there when nothing is asked for any more; nullopt: what is there stays.
  std::optional<LimitValue> LeftOver(const AgentTask& task, LimitKind kind) const;
  // Ledger, kernel, ledger.
  absl::Status WriteNow(AgentTask& task, LimitKind kind, LimitValue value);
  // ---- oom_score_adj (agent_scores.cc) ----
  bool MayBeScored(const AgentTask& task) const;
  // Gives processes of the task that are new the value of its tier.
  void ScoreProcesses(AgentTask& task, const std::set<std::string_view>& paths);
  void SetScores(AgentTask& task, const std::vector<ProcessId>& processes);
  // They left the task: what the agent gave them goes with its reason.
  void RestoreLeavers(const std::vector<std::pair<ProcessId, int>>& left, int set);
  // All processes of the task have what their owners gave them; as far as the ledger knows.
  void ReleaseScoresOf(AgentTask& task, const std::set<std::string_view>& paths);
  // Of all tasks' groups: one within another is a task of its own.
  std::set<std::string_view> GroupPaths() const;
  // Reads the usage of tasks that the guard may act on. Returns those that have grown.
  std::vector<uint64_t> RefreshForGuard(const NodeTime& now);

  // nullopt: not guarded, or not known now.
  std::optional<MemoryNow> ReadMemory();
  void GuardMemory(const MemoryNow& memory, const NodeTime& now);
  std::vector<GuardTask> GuardTasks() const;
  using TierByPath = std::multimap<std::string, Tier>;  // of all tasks, by the paths of their cgroups
  bool MayBeGuarded(const AgentTask& task, const TierByPath& tiers) const;
  void CarryOut(const GuardAct& act, const GuardFigures& figures, const NodeTime& now);
  void BeginThrottle(AgentTask& task, const GuardAct& act, const GuardFigures& figures, const NodeTime& now);
  void KillTask(AgentTask& task, const GuardAct& act, const GuardFigures& figures, const NodeTime& now);
  absl::Status Throttle(AgentTask& task, double high);
  // memory.high as it was before; `why`, for the log and tautd.
  void EndThrottle(AgentTask& task, const GuardFigures& figures, std::string why, const NodeTime& now);
  // Unless it is so already, or another program has set it.
  void RestoreHigh(AgentTask& task, LimitValue before);
  // ---- acts of the guard, for tautd (agent_acts.cc) ----
  GuardFigures FiguresOf(const AgentTask& task) const;
  taut::agent::v1::TierAct ActOf(TierActKind kind, const AgentTask& task, const GuardFigures& figures,
                                 std::string why, const NodeTime& now) const;
  // In the ledger, to be saved with its next write: what the next start reports if this one is killed.
  void NoteAct(const taut::agent::v1::TierAct& act, ActState state);
  void DropAct(const taut::agent::v1::TierAct& act);
  // To the log and to tautd.
  void ReportAct(const taut::agent::v1::TierAct& act, const AgentTask& task, const GuardFigures& figures);
  void SendAct(const taut::agent::v1::TierAct& act);
  // Reports the end of the task's throttle, if it is throttled.
  void EndThrottleAct(AgentTask& task, const GuardFigures& figures, std::string why, const NodeTime& now);
  // Of an earlier start that was killed.
  void ReportOldActs(const NodeTime& now);
  // ---- probing (agent_probe.cc) ----
  void ProbeMemory(const NodeTime& now);
  void StepProbe(AgentTask& task, const NodeTime& now);
  // memory.high as its owner has it, if it is probed; what was found stays.
  void EndProbe(AgentTask& task, std::string why);
  bool MayBeProbed(const AgentTask& task) const;
  // No other task, and not this agent, is in its group. `paths`: of all tasks, ascending.
  bool StandsAlone(const AgentTask& task, const std::vector<std::string>& paths) const;
  // Is it time to read all files of a task that is probed?
  bool IsProbeRead(const AgentTask& task, const NodeTime& now) const;
  void Look(AgentTask& task, ReadDepth depth, const NodeTime& now);
  void TakeEvent(const TaskEvent& event, const NodeTime& now);
  void CheckOom(AgentTask& task, const TaskReading& reading, const NodeTime& now);
  // Memory that will reach a limit of Tautline's before the next decision gets more at once.
  void CheckGrowth(AgentTask& task, const NodeTime& now);
  std::optional<double> GrowthBound(const AgentTask& task, std::optional<double> owner) const;
  // Kills that were not seen yet were under the limit that is in force until now.
  void CountKills(AgentTask& task, const NodeTime& now);
  // Whether the limit of the task itself was met lately: else a kill is not due to it.
  bool NoteLimitOoms(AgentTask& task, const TaskReading& reading, const NodeTime& now);
  // Whether a kill may be due to the task's own limit, where the kernel does not count how often that was met: no
  // group above met its limit, and usage once came near the task's own.
  bool MayBeOwnKill(const AgentTask& task, const TaskReading& reading) const;
  void ReadAbove(AgentTask& task, const NodeTime& now);
  // A kill at a limit above the task, or for want of the machine's memory: nothing is raised.
  void OnKernelKill(AgentTask& task, uint64_t kills, const NodeTime& now);
  void OnOom(AgentTask& task, uint64_t kills, const NodeTime& now);
  void CheckThrottling(AgentTask& task, const TaskReading& reading, const NodeTime& now);
  // Sets the limit that the agent has raised itself. `why`: a literal.
  void MoveRaised(AgentTask& task, LimitLane& lane, std::string_view why, const NodeTime& now);
  // Of a task that is gone: it starts again with more.
  void OnLateOom(Departed& task, uint64_t kills, const NodeTime& now);
  void TellOom(const FoundTask& task, uint64_t kills, std::optional<double> limit,
               std::optional<double> raised, const NodeTime& now);
  // `above`: what the groups above the task allow.
  std::optional<double> UpperOf(const FoundTask& task, const TaskRule& rule, Resource r,
                                std::optional<double> above) const;
  std::optional<double> UpperOf(const AgentTask& task, Resource r) const {
    return UpperOf(task.found, *task.rule, r, LimitInForce(task, r, {}));
  }
  bool MayRaise(const FoundTask& task, const TaskRule& rule) const;
  void Order(const taut::agent::v1::Order& order, const NodeTime& now);
  // When it was decided, by this machine's clock; 0: not said.
  static int64_t DecidedAt(LimitLane& lane, int64_t decided_s, const NodeTime& now);
  void TakeTerms(const taut::agent::v1::Terms& terms);
  // Next steps of these tasks: ledger first, then the kernel, then the outcome.
  void Move(const std::vector<AgentTask*>& tasks, const NodeTime& now);
  struct Step {
    AgentTask* task;
    Resource r;
    std::optional<double> limit;
    LimitWrites writes;
  };
  // nullopt: nothing to do now.
  std::optional<Step> PlanStep(AgentTask& task, Resource r, const NodeTime& now);
  void Carry(const Step& step, const NodeTime& now);
  // Notes what was done with the limits of a task, for TakeActs.
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
  MemoryGuard guard_;
  std::optional<MemoryNow> memory_now_;  // as read last; absent: not guarded, or it could not be read
  int64_t guarded_us_ = INT64_MIN / 2, scored_us_ = INT64_MIN / 2;
  bool is_guard_awaited_ = false;  // memory passed a threshold, too soon after the last reading
  bool old_acts_reported_ = false;
  std::map<uint64_t, std::unique_ptr<AgentTask>> tasks_;  // by id, which are the watch's keys
  uint64_t last_id_ = 0;
  absl::flat_hash_map<std::string, uint64_t> by_identity_;
  absl::flat_hash_map<Name, uint64_t> by_name_;
  std::map<Name, Departed> departed_;
  std::map<std::string, std::string> errors_;
  std::map<std::string, size_t> task_errors_;  // of errors_, those about a task: by identity its finder
  int64_t tidied_us_ = INT64_MIN;
  AgentCounts counts_;
  std::vector<AgentAct> acts_;
  std::vector<bool> looked_;  // by finder: whether it has found its tasks once
  uint64_t sample_ = 0;
  Timestamp measured_{0};                 // windows that ended before have been sent
  std::map<uint64_t, int64_t> suspects_;  // by task id: until when
  // To be reported: since the last SendTasks.
  std::vector<uint64_t> fresh_;
  std::vector<Name> gone_;
  std::map<WindowId, std::vector<std::pair<uint64_t, NodeWindow>>> windows_;
  std::map<WindowId, taut::agent::v1::Windows> of_departed_;  // windows of tasks that ended in them
  taut::agent::v1::Outcomes outcomes_;
};

}  // namespace taut::node
