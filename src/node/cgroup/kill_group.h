// Kills all processes of a cgroup.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "node/cgroup/kernel_file.h"

namespace taut::node {

// Sends SIGKILL to every process in `group` (at `path` of its hierarchy) and in the groups below it, including
// processes that start meanwhile. Returns the number of processes. Uses cgroup.kill where the kernel has it (v2,
// Linux 5.14). Otherwise it kills one by one through pidfds, in at most 20 rounds (v2: with the group frozen). No
// process that left the group or reused a pid is killed. Processes may end shortly after the call. `group` is an
// open directory, so that a new group of the same name is never killed.
//
// FailedPrecondition, without a kill, if the group is the hierarchy's root or contains the calling process, its
// parent or process 1.
absl::StatusOr<int> KillGroup(const KernelDirectory& group, std::string_view path);

}  // namespace taut::node
