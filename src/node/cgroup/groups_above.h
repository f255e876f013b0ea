// Limits of the groups above a cgroup. They apply in addition to the cgroup's own limits.
#pragma once

#include <string_view>
#include <vector>

#include "node/agent/task_group.h"
#include "node/cgroup/cgroup_mounts.h"

namespace taut::node {

// Returns the groups above `path` that limit memory or CPU, nearest first, the hierarchy's root last. On v1,
// memory and CPU are read from their own hierarchies, where the same path names the same group.
std::vector<GroupAbove> ReadGroupsAbove(const CgroupMounts& mounts, std::string_view path);

}  // namespace taut::node
