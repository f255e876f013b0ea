// The tasks of a machine as text, for `tautlet --list`.
#pragma once

#include <string>
#include <string_view>

#include "node/agent/task_group.h"
#include "node/agent/task_rule.h"
#include "node/agent/tier_options.h"

namespace taut::node {

// Returns the line of column titles.
std::string TaskListHead();
// Returns the line of one task: usage, tier, and the limits in force. A limit in force is the lowest of the
// task's own limit and the limits of the groups above the task. Unreadable values are "-". `may_change`: the
// agent applies limits to tasks of rules with `manage`.
std::string TaskListLine(TaskFinder& finder, const FoundTask& task, const TaskRule& rule,
                         const TierOptions& tiers, bool may_change);
// Returns the CPU weights of the tiers and of unmanaged groups, descending; "" if no tier has a weight.
// `has_shares`: true on cgroup v1.
std::string WeightsLine(const TierOptions& tiers, bool has_shares);

}  // namespace taut::node
