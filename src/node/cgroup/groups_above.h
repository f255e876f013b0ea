// What the groups above a cgroup allow it: the limits of its own files are not all that the kernel has.
#pragma once

#include <string_view>
#include <vector>

#include "node/agent/task_group.h"
#include "node/cgroup/cgroup_mounts.h"

namespace taut::node {

// The groups above the one at `path` that limit memory or CPU, the nearest first, the hierarchy's root last. On v1
// memory and CPU are of their own hierarchies, where the same path stands for the same group.
std::vector<GroupAbove> ReadGroupsAbove(const CgroupMounts& mounts, std::string_view path);

}  // namespace taut::node
