// The processes of a cgroup and of the groups below it.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "node/cgroup/kernel_file.h"

namespace taut::node {

// Returns the pids, with a 0 if there are processes of another PID namespace. `path` is the path of `group`.
// Leaves out the groups whose paths are in `leave_out`, and all groups below these groups. Searches 32 levels
// below the group.
std::set<int> PidsOf(const KernelDirectory& group, const std::string& path = {},
                     const std::set<std::string_view>& leave_out = {});

}  // namespace taut::node
