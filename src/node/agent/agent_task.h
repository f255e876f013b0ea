// The agent's state of one task: measurements, limits and their targets. Also converts a limit in cores or
// bytes to kernel values.
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
#include "node/agent/throttle_control.h"
#include "node/agent/tier_options.h"

namespace taut::node {

// Node time: both clocks of the machine (node/agent/task_meter.h).
struct NodeTime {
  int64_t steady_us = 0;
  Timestamp at;
};

// True if the cgroup `path` is `of` or a group below it.
inline bool IsWithin(std::string_view path, std::string_view of) {
  return path.starts_with(of) && (path.size() == of.size() || path[of.size()] == '/');
}

// One resource of a task.
struct LimitLane {
  explicit LimitLane(LimitMover m) : mover(std::move(m)) {}

  LimitMover mover;
  bool owners = false;  // true: the target is the owner's limit
  // The last order, and the outcome that was reported for this order.
  uint64_t decision = 0;
  int64_t ordered_us = 0;
  std::optional<std::pair<MoveState, Obstacle>> said;
  std::string error;   // error of the last write; "": the write succeeded
  std::string note;    // text about the order: "3 MiB is below the minimum of 6 MiB"
  double minimum = 0;  // the minimum in `note`; 0: the order was not below the minimum
  // Time at which another program changed the limit, seconds since 1970; absent: never. Older orders do not
  // undo the change.
  std::optional<int64_t> others_s;
  // For the log: the limit before the first step to the target, and the reason for the move.
  std::optional<std::optional<double>> from;
  std::string_view why;
  // The newest order whose time is in the future (clocks differ): its time as the daemon wrote it, and the
  // time at which it first arrived.
  int64_t future_decided_s = 0, future_came_s = 0;

  // Lowers a recorded time after `now_s` to `now_s`: the clock may have been set back.
  void NotAfter(int64_t now_s) {
    if (others_s.has_value() && *others_s > now_s) others_s = now_s;
    mover.NotAfter(now_s);
  }
  // Time since which the kernel has the present limit, by the machine's clock.
  Timestamp limit_since{INT64_MAX};
};

// Counts the OOM kills of one task over all its starts, from two sources. The kernel's counter is exact, but
// it disappears with the cgroup. The engine's events only indicate that a kill happened, and some are
// duplicates. An event therefore counts only if the counter disappeared before the kill could be read, and at
// most once per start. Each function returns the number of kills that were not counted before. Times are
// steady microseconds.
class OomTally {
 public:
  // Records the start of the task. Call it when the task's group exists.
  void Begin(int64_t now_us);
  uint64_t Counted(uint64_t kills, int64_t now_us);
  // Handles a kill that the engine reported while the group exists. The group's counter, if any, will soon
  // show the kill.
  uint64_t Event(bool has_counter, int64_t now_us);
  // Handles an event after which the counter has not risen in time.
  uint64_t Unexplained(int64_t now_us);
  // Handles the end of the task, whose group no longer exists.
  uint64_t End(int64_t now_us);
  // Handles a kill that the engine reported after the group has disappeared.
  uint64_t LateEvent();

 private:
  bool IsRecent(const std::optional<int64_t>& at_us, int64_t now_us) const;

  std::optional<int64_t> counted_us_, event_us_;  // times in the present run of the task
  std::optional<int64_t> began_us_;
  // True if the previous run ended without a reported kill.
  bool end_is_open_ = false;
};

// Bounds the number of resets that the agent undoes: a program that writes the owner's value again and again is
// not a reload of units.
class ResetBudget {
 public:
  // Returns true for at most kMost resets per hour.
  bool Take(int64_t now_us) {
    if (now_us - since_us_ >= kHourUs) {
      since_us_ = now_us;
      taken_ = 0;
    }
    return ++taken_ <= kMost;
  }
  static constexpr int kMost = 20;  // an upgrade of packages reloads the units several times

 private:
  static constexpr int64_t kHourUs = 3'600'000'000;
  int64_t since_us_ = INT64_MIN / 2;
  int taken_ = 0;
};

struct AgentTask {
  AgentTask(FoundTask task, const TaskRule& its_rule, std::unique_ptr<TaskGroup> its_group,
            const MeterOptions& meter_options, const MoverOptions& mover_options);

  FoundTask found;
  const TaskRule* rule;
  size_t finder = 0;
  std::unique_ptr<TaskGroup> group;
  TaskMeter meter;
  std::vector<LimitLane> lanes;   // indexed by Resource
  TaskLimits owner;               // the owner's limits, before any change by the agent
  TaskLimits in_force;            // limits as last read back from the kernel
  std::vector<GroupAbove> above;  // groups above the task, read with in_force
  std::optional<uint64_t> oom_kills, periods, throttled;  // counters as last read
  std::optional<uint64_t> limit_ooms;
  int64_t limit_met_us = INT64_MIN / 2;  // steady time at which limit_ooms last rose
  std::optional<double> usage;           // memory in bytes at the last reading, also between samples
  std::optional<OomScores> scores;       // absent until the task's processes are first read
  std::optional<uint64_t> kernel_peak;   // TaskReading::memory_peak_bytes of the last full reading
  GrowthWatch growth;                    // growth of the memory usage
  int64_t compared_us = INT64_MIN;       // steady time at which in_force was read
  std::optional<int64_t> started_us;     // steady time; absent: an unknown time before the agent's start
  int64_t cuts_from_us = INT64_MIN;      // steady time at which the start-up grace ends
  OomTally ooms;
  TaskTier tier;
  ResetBudget resets;
  // The memory.high before the throttle; absent unless the guard of the machine's memory throttles the task.
  std::optional<LimitValue> high_before;
  std::optional<taut::agent::v1::TierAct> throttle_act;  // report of the current throttle
  // Present once the task was probed. The probe's limit is in force while probe->high() has a value.
  std::optional<MemoryProbe> probe;
  struct {
    std::optional<uint64_t> stall_us;
    std::optional<double> usage;
    int64_t at_us = INT64_MIN / 2;  // steady time of the reading
  } probe_read;                     // values of the last full reading
  // Present while the agent controls the share of throttled periods; read_us: steady time of its last reading.
  std::optional<ThrottleControl> throttle;
  int64_t throttle_read_us = 0;
  // Indexed by LimitKind, for values that tiers set. is_others: another program changed the value, and the agent
  // does not change it again. is_refused: the kernel refused the value.
  std::array<bool, kNumLimitKinds> is_others{}, is_refused{};
  // Highest memory in bytes since peak_since_us, and in the span before that time.
  double peak = 0, peak_before = 0;
  int64_t peak_since_us = 0;

  LimitLane& of(Resource r) { return lanes[static_cast<size_t>(r)]; }
  const LimitLane& of(Resource r) const { return lanes[static_cast<size_t>(r)]; }
  void NotePeak(std::optional<double> memory, int64_t now_us, int64_t span_us);
  std::optional<double> recent_peak() const;
};

// Stores the probe's result in the first of the windows that just closed. The other windows had no probe
// step.
void PutNeeded(AgentTask& task, std::span<NodeWindow> closed);

using LimitWrites = std::vector<std::pair<LimitKind, std::optional<double>>>;

// Returns the writes, in order, that put `limit` (absent: none) in force. A raise writes memory.max first, a cut
// memory.high first. Empty if the rule sets no limits of this resource. `current`: limit in force, which decides
// the order.
LimitWrites WritesFor(const TaskRule& rule, Resource r, std::optional<double> limit,
                      std::optional<double> current);
// Returns the writes that restore the owner's limits.
LimitWrites WritesForOwner(const TaskRule& rule, Resource r, const TaskLimits& owner);
// Returns the memory.high that belongs to this memory.max under `memory: soft`.
double HighBeside(double max);
// True if a write that failed with this code may still have changed the limit: a container that ends during an
// update gets the new limit at its next start. The ledger keeps both values as the agent's until the next
// comparison.
bool MayBeWritten(absl::StatusCode code);
// Converts kernel values to the limit in cores or bytes under this rule; nullopt: no limit.
std::optional<double> LimitOf(const TaskRule& rule, Resource r, const TaskLimits& limits);
// Returns the limit that corresponds to the owner's memory limit. Under `memory: soft` the result is at most
// HighBeside(the owner's memory.max).
std::optional<double> OwnersMemory(const TaskRule& rule, const TaskLimits& owner);
// Calls LimitOf(rule, ...) with the rule of the task. The kernel's default CPU weight counts as no limit.
std::optional<double> LimitOf(const AgentTask& task, Resource r, const TaskLimits& limits);
// Returns the reason why the task gets no limit of this resource: its owner set no limit and the rule adds none.
// "" if a limit may be set.
std::string WhyNotAdded(const AgentTask& task, Resource r);
// Returns the group above a task with the lowest limit; nullptr if no group has a limit.
const GroupAbove* LeastAbove(std::span<const GroupAbove> above, Resource r);
// Returns the limit in force: the lower of `own` and the limits of the groups above.
std::optional<double> LimitInForce(const AgentTask& task, Resource r, std::optional<double> own);
// Names the group above the task whose limit is below `own`; "" if no group's limit is below `own`.
std::string AboveText(const AgentTask& task, Resource r, std::optional<double> own);
// Returns the limit, clamped to the rule's bounds.
std::optional<double> Bounded(const TaskRule& rule, Resource r, std::optional<double> limit);

// Convert a number of cores to a CPU weight, and back. A core is 1,024 shares, which are converted to cgroup v2's
// weight as in container runtimes. Weights are 1 .. 10,000.
double WeightOfCores(double cores);
double CoresOfWeight(double weight);

}  // namespace taut::node
