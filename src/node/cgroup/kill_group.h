// The end of all processes of a cgroup.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "node/cgroup/kernel_file.h"

namespace taut::node {

// SIGKILL to every process in `group`, at `path` of its hierarchy, and in the groups below it; those that they
// start meanwhile too. Returns how many were there. By cgroup.kill where the kernel has it (v2, Linux 5.14);
// else one by one through pidfds (v2: frozen meanwhile), so that no process that left the group or took an old
// number is hit, in 20 rounds at most. Processes end a little later. As `group` is held open, another group of
// its name is never hit.
//
// FailedPrecondition, and nothing is killed: the hierarchy's root, or a group with the calling process, its
// parent or process 1 in it or below it.
absl::StatusOr<int> KillGroup(const KernelDirectory& group, std::string_view path);

}  // namespace taut::node
