// Configuration of tiers: the tier of each task, and the values that a tier sets on the task's cgroup.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "common/model/tier.h"
#include "node/agent/memory_guard.h"
#include "node/agent/task_group.h"
#include "node/agent/task_rule.h"

namespace taut::node {

enum class MemoryProtection : uint8_t {
  kNone,
  kLow,  // memory.low: memory below it is reclaimed last
  kMin   // memory.min: never reclaimed, even if the machine runs out of memory
};

// All given conditions must match; the first rule that matches a task applies.
struct TaskTierRule {
  std::string job;              // pattern of the job (common/base/pattern.h); "": any
  std::string label, label_is;  // key of a label, and pattern of its value; "": any task
  std::optional<Tier> tier;
  std::optional<double> memory_request;  // memory request in bytes
};

template <typename T>
using ByTier = std::array<T, kTiers>;

struct TierOptions {
  Tier fallback = Tier::kProduction;  // tier of a task if no rule sets its tier
  ByTier<int> cpu_weight{};           // 1 .. 10,000; 0: left unchanged
  ByTier<MemoryProtection> protect{};
  // True if oom_score_adj of processes is set by tier while the guard is on. A tier's value is a lower bound for
  // tiers that may be killed, and an upper bound for production and monitoring.
  bool sets_oom_scores = true;
  ByTier<int> oom_score_adj{1000, 800, 300, -800, -900};
  std::vector<TaskTierRule> rules;
  GuardOptions guard;
  // Path of a cgroup whose memory is guarded in place of the machine's; "": the machine.
  std::string guard_of;

  bool guards() const { return guard.throttle || guard.kill; }
  bool scores() const { return guards() && sets_oom_scores; }
};

struct TaskTier {
  Tier tier = Tier::kProduction;
  std::optional<double> memory_request;  // memory request in bytes; absent: none is configured
};
// Returns the tier and request of a task. Each value is from the first matching rule of the options if that rule
// sets it, else from the task's own rule. If neither sets a value, the tier is the fallback and the request is
// absent. O(rules).
TaskTier TierOf(const TierOptions& options, const FoundTask& task, const TaskRule& rule);

}  // namespace taut::node
