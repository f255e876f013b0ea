// One task as the agent keeps it: what it measures, where its limits are and where they go, and how a limit
// in cores or bytes becomes what is written to the kernel.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent.pb.h"
#include "common/model/resource.h"
#include "node/agent/growth_watch.h"
#include "node/agent/ledger.h"
#include "node/agent/limit_mover.h"
#include "node/agent/memory_probe.h"
#include "node/agent/oom_scores.h"
#include "node/agent/task_group.h"
#include "node/agent/task_meter.h"
#include "node/agent/task_rule.h"
#include "node/agent/tier_options.h"

namespace taut::node {

// Both clocks of the machine (node/agent/task_meter.h).
struct NodeTime {
  int64_t steady_us = 0;
  Timestamp at;
};

// Whether the cgroup `path` is the group `of`, or below it.
inline bool IsWithin(std::string_view path, std::string_view of) {
  return path.starts_with(of) && (path.size() == of.size() || path[of.size()] == '/');
}

// One resource of a task.
struct LimitLane {
  explicit LimitLane(LimitMover m) : mover(std::move(m)) {}

  LimitMover mover;
  bool owners = false;  // the target is what the owner had
  // What was ordered last, and what was said of it.
  uint64_t decision = 0;
  int64_t ordered_us = 0;
  std::optional<std::pair<MoveState, Obstacle>> said;
  std::string error;   // of the last write; "" if it went well
  std::string note;    // of the order: "3 MiB is below the minimum of 6 MiB"
  double minimum = 0;  // that note's; 0: the order was not below it
  // When another program changed the limit: an order decided before does not undo that.
  std::optional<int64_t> others_s;
  // For the log: what was in force before the first step to the target, and why it was taken.
  std::optional<std::optional<double>> from;
  std::string_view why;
  // The newest order from later than now, as the daemon wrote it, and when it came: clocks differ.
  int64_t future_decided_s = 0, future_came_s = 0;

  // This clock may go back: nothing happened later than now.
  void NotAfter(int64_t now_s) {
    if (others_s.has_value() && *others_s > now_s) others_s = now_s;
    mover.NotAfter(now_s);
  }
  // Since when, by the machine's clock, the kernel has the limit that it has.
  Timestamp limit_since{INT64_MAX};
};

// Kills of one task over its starts. The kernel's counter says how many there were. The engine's events only
// say that one may have been, some of them twice: they count where the counter was gone with the group before
// the kill was read from it, and then once a start. Each call says how many kills are news.
class OomTally {
 public:
  // A group of the task is there.
  void Begin(int64_t now_us);
  uint64_t Counted(uint64_t kills, int64_t now_us);
  // The engine told of a kill, and the group is there: its counter, if it has one, is about to say so.
  uint64_t Event(bool has_counter, int64_t now_us);
  // The counter had its time and did not move.
  uint64_t Unexplained(int64_t now_us);
  // The group is gone.
  uint64_t End(int64_t now_us);
  // The engine told of a kill, and the group is gone.
  uint64_t LateEvent();

 private:
  bool IsRecent(const std::optional<int64_t>& at_us, int64_t now_us) const;

  std::optional<int64_t> counted_us_, event_us_;  // of this start
  std::optional<int64_t> began_us_;
  // The last start ended, and no kill was reported for its end.
  bool end_is_open_ = false;
};

struct AgentTask {
  AgentTask(FoundTask task, const TaskRule& its_rule, std::unique_ptr<TaskGroup> its_group,
            const MeterOptions& meter_options, const MoverOptions& mover_options);

  FoundTask found;
  const TaskRule* rule;
  size_t finder = 0;
  std::unique_ptr<TaskGroup> group;
  TaskMeter meter;
  std::vector<LimitLane> lanes;   // by Resource
  TaskLimits owner;               // before any change of ours
  TaskLimits in_force;            // as read back last
  std::vector<GroupAbove> above;  // read with in_force
  std::optional<uint64_t> oom_kills, periods, throttled;
  std::optional<uint64_t> limit_ooms;
  int64_t limit_met_us = INT64_MIN / 2;  // steady time, when limit_ooms was seen to rise
  std::optional<double> usage;           // memory, as read last, also between samples
  std::optional<OomScores> scores;       // there once its processes were looked at
  std::optional<uint64_t> kernel_peak;   // TaskReading::memory_peak_bytes
  GrowthWatch growth;                    // of memory
  int64_t compared_us = INT64_MIN;       // when in_force was read
  std::optional<int64_t> started_us;  // steady time; absent: it ran before the agent, since when is not known
  OomTally ooms;
  TaskTier tier;
  // There while the guard of the machine's memory throttles the task: what memory.high was before.
  std::optional<LimitValue> high_before;
  std::optional<taut::agent::v1::TierAct> throttle_act;  // of that throttle, as reported
  // There while the task may be probed, and after; its limit is in force while probe->high() has it.
  std::optional<MemoryProbe> probe;
  struct {
    std::optional<uint64_t> stall_us;
    std::optional<double> usage;
    int64_t at_us = INT64_MIN / 2;  // steady time
  } probe_read;                     // of the last whole reading
  // By LimitKind, of what tiers set: another program has changed it since, and it stays so; the kernel refused.
  std::array<bool, kNumLimitKinds> is_others{}, is_refused{};
  // The highest memory since peak_since_us and in the span before it.
  double peak = 0, peak_before = 0;
  int64_t peak_since_us = 0;

  LimitLane& of(Resource r) { return lanes[static_cast<size_t>(r)]; }
  const LimitLane& of(Resource r) const { return lanes[static_cast<size_t>(r)]; }
  void NotePeak(std::optional<double> memory, int64_t now_us, int64_t span_us);
  std::optional<double> recent_peak() const;
};

// The probe's result with a window that has just closed, the first of these: no step was made in the others.
void PutNeeded(AgentTask& task, std::span<NodeWindow> closed);

using LimitWrites = std::vector<std::pair<LimitKind, std::optional<double>>>;

// What to write, in this order, so that `limit` (absent: none) holds: a higher bound goes up before a lower
// one and comes down after it. Empty: the rule wants this resource left alone.
LimitWrites WritesFor(const TaskRule& rule, Resource r, std::optional<double> limit,
                      std::optional<double> current);
// What to write so that the owner's limits hold again.
LimitWrites WritesForOwner(const TaskRule& rule, Resource r, const TaskLimits& owner);
// memory.high beside this memory.max, both of `memory: soft`.
double HighBeside(double max);
// Whether a write that failed in this way may have changed the limit all the same: a container that ends
// during the update has it at its next start. The next comparison finds out; until then the ledger keeps
// both values as the agent's.
bool MayBeWritten(absl::StatusCode code);
// The limit in cores or bytes that these come to, under this rule; absent: none.
std::optional<double> LimitOf(const TaskRule& rule, Resource r, const TaskLimits& limits);
// What to set so that a task has the owner's memory limit, and no more with the room above a soft one.
std::optional<double> OwnersMemory(const TaskRule& rule, const TaskLimits& owner);
// The same of the task. The CPU weight that every group has which nothing was said of is none of its own.
std::optional<double> LimitOf(const AgentTask& task, Resource r, const TaskLimits& limits);
// Why the task gets no limit of this resource: its owner has set none, and the rule adds none. "": it may have
// one.
std::string WhyNotAdded(const AgentTask& task, Resource r);
// The least that the groups above a task allow; nullptr: they have no limit.
const GroupAbove* LeastAbove(std::span<const GroupAbove> above, Resource r);
// The limit in force: LimitOf, or what a group above allows, whichever is less.
std::optional<double> LimitInForce(const AgentTask& task, Resource r, std::optional<double> own);
// Which group above the task holds it to less than `own`; "" if none does.
std::string AboveText(const AgentTask& task, Resource r, std::optional<double> own);
// Within the rule's bounds.
std::optional<double> Bounded(const TaskRule& rule, Resource r, std::optional<double> limit);

// CPU weight of a number of cores and back: 1,024 shares a core, then as container runtimes turn shares into
// cgroup v2's weight. 1 .. 10,000.
double WeightOfCores(double cores);
double CoresOfWeight(double weight);

}  // namespace taut::node
