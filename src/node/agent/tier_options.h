// The tiers of a machine's tasks, as configured: which task has which, and what that means for its cgroup.
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
  kLow,  // memory.low: what is below it is reclaimed last
  kMin   // memory.min: never, though the machine ends
};

// All that is given must fit; the first rule that fits a task decides.
struct TaskTierRule {
  std::string job;              // pattern (common/base/pattern.h); "": any
  std::string label, label_is;  // a label's key and the pattern of its value; "": any task
  std::optional<Tier> tier;
  std::optional<double> memory_request;  // bytes
};

template <typename T>
using ByTier = std::array<T, kTiers>;

struct TierOptions {
  Tier fallback = Tier::kProduction;  // of a task to which nothing gives one
  ByTier<int> cpu_weight{};           // 1 .. 10,000; 0: left as it is
  ByTier<MemoryProtection> protect{};
  // oom_score_adj of processes while the guard is on: tiers that it may kill get at least theirs, production and
  // monitoring at most theirs.
  bool sets_oom_scores = true;
  ByTier<int> oom_score_adj{1000, 800, 300, -800, -900};
  std::vector<TaskTierRule> rules;
  GuardOptions guard;
  std::string
      guard_of;  // path of a cgroup whose memory is guarded in place of the machine's; "": the machine

  bool guards() const { return guard.throttle || guard.kill; }
  bool scores() const { return guards() && sets_oom_scores; }
};

struct TaskTier {
  Tier tier = Tier::kProduction;
  std::optional<double> memory_request;  // bytes; absent: none is configured
};
// By the first of the options' rules that fits and says it, else by the task's own rule, else the fallback.
TaskTier TierOf(const TierOptions& options, const FoundTask& task, const TaskRule& rule);

}  // namespace taut::node
