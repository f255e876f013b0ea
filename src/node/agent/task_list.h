// The tasks of a machine as text: what `tautlet --list` prints.
#pragma once

#include <string>
#include <string_view>

#include "node/agent/task_group.h"
#include "node/agent/task_rule.h"
#include "node/agent/tier_options.h"

namespace taut::node {

// The titles of the columns.
std::string TaskListHead();
// One task: usage, tier, and the limits in force, which are the least of its own and of those of the groups above
// it. What cannot be read is "-". `may_change`: the agent applies limits to tasks of rules with `manage`.
std::string TaskListLine(TaskFinder& finder, const FoundTask& task, const TaskRule& rule,
                         const TierOptions& tiers, bool may_change);
// The tiers' CPU weights, descending, with the place of groups that no rule manages; "" if no tier has one.
// `has_shares`: cgroup v1.
std::string WeightsLine(const TierOptions& tiers, bool has_shares);

}  // namespace taut::node
