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
// Returns the line of one task: usage, tier, and the limits in force, which are the lower of its own and
// those of the groups above. Unreadable values are "-". `may_change`: the agent applies limits to tasks of
// rules with `manage`.
std::string TaskListLine(TaskFinder& finder, const FoundTask& task, const TaskRule& rule,
                         const TierOptions& tiers, bool may_change);
// Returns the tiers' CPU weights, descending, with that of unmanaged groups; "" if no tier has a weight.
// `has_shares`: cgroup v1.
std::string WeightsLine(const TierOptions& tiers, bool has_shares);

}  // namespace taut::node
