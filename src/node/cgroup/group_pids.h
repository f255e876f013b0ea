// The processes of a cgroup and of those below it.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "node/cgroup/kernel_file.h"

namespace taut::node {

// 0 stands for processes of another PID namespace. `leave_out`: paths of groups below whose processes do not
// count, `path` being that of `group`. Groups more than 32 levels below are not looked at.
std::set<int> PidsOf(const KernelDirectory& group, const std::string& path = {},
                     const std::set<std::string_view>& leave_out = {});

}  // namespace taut::node
