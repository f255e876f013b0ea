// One task as the agent keeps it: what it measures, where its limits are and where they go, and how a limit
// in cores or bytes becomes what the kernel is told.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/resource.h"
#include "node/limit_mover.h"
#include "node/task_meter.h"
#include "ports/task_group.h"
#include "ports/task_rule.h"

namespace taut {

// Both clocks of the machine (node/task_meter.h).
struct NodeTime {
  int64_t steady_us = 0;
  Timestamp at;
};

// One resource of a task.
struct LimitLane {
  explicit LimitLane(LimitMover m) : mover(std::move(m)) {}

  LimitMover mover;
  bool owners = false;  // the target is what the owner had
  // What was ordered last, and what was said of it.
  uint64_t decision = 0;
  int64_t ordered_us = 0;
  std::optional<MoveState> said;
  std::string error;  // of the last write; "" if it went well
  // When somebody else was seen to have changed the limit: what was decided before does not undo that.
  std::optional<int64_t> others_s;
  // Since when, by the machine's clock, the kernel has the limit that it has.
  Timestamp limit_since{INT64_MAX};
};

// Kills of one task, of which kernel and engine both tell, either first.
enum class OomSource : uint8_t { kCounter, kEvent };
class OomTally {
 public:
  // How many of these kills are news.
  uint64_t Take(OomSource source, uint64_t kills, int64_t now_us);

 private:
  int64_t last_us_ = 0;
  std::array<uint64_t, 2> ahead_{};  // by source: told by it, and not by the other so far
};

struct AgentTask {
  AgentTask(FoundTask task, const TaskRule& its_rule, std::unique_ptr<TaskGroup> its_group,
            const MeterOptions& meter_options, const MoverOptions& mover_options);

  FoundTask found;
  const TaskRule* rule;
  size_t finder = 0;
  std::unique_ptr<TaskGroup> group;
  TaskMeter meter;
  std::vector<LimitLane> lanes;  // by Resource
  TaskLimits owner;              // before any change of ours
  TaskLimits in_force;           // as read back last
  std::optional<uint64_t> oom_kills, periods, throttled;
  OomTally ooms;
  // The highest memory since peak_since_us and in the span before it.
  double peak = 0, peak_before = 0;
  int64_t peak_since_us = 0;

  LimitLane& of(Resource r) { return lanes[static_cast<size_t>(r)]; }
  const LimitLane& of(Resource r) const { return lanes[static_cast<size_t>(r)]; }
  void NotePeak(std::optional<double> memory, int64_t now_us, int64_t span_us);
  std::optional<double> recent_peak() const;
};

using LimitWrites = std::vector<std::pair<LimitKind, std::optional<double>>>;

// What to write, in this order, so that `limit` (absent: none) holds: a higher bound goes up before a lower
// one and comes down after it. Empty: the rule wants this resource left alone.
LimitWrites WritesFor(const TaskRule& rule, Resource r, std::optional<double> limit,
                      std::optional<double> current);
// What to write so that the owner's limits hold again.
LimitWrites WritesForOwner(const TaskRule& rule, Resource r, const TaskLimits& owner);
// The limit in cores or bytes that these come to, under this rule; absent: none.
std::optional<double> LimitOf(const TaskRule& rule, Resource r, const TaskLimits& limits);
// Within the rule's bounds.
std::optional<double> Bounded(const TaskRule& rule, Resource r, std::optional<double> limit);

// CPU weight of so many cores and back: 1,024 shares a core, then as container runtimes turn shares into
// cgroup v2's weight. 1 .. 10,000.
double WeightOfCores(double cores);
double CoresOfWeight(double weight);

}  // namespace taut
