// Free memory of the machine and of a cgroup.
#pragma once

#include <memory>
#include <string>

#include "node/agent/memory_source.h"
#include "node/cgroup/cgroup_mounts.h"

namespace taut::node {

// MemTotal and MemAvailable of PROC/meminfo, and PROC/pressure/memory where the kernel has it. Read costs two
// small files and fails with Unavailable if meminfo has no MemAvailable.
std::unique_ptr<MemorySource> MachineMemory(std::string proc_dir = "/proc");
// The group at `path`: its limit and the rest of it (inactive file pages count as free), at most what
// `machine` has, and the pressure in it. Each Read looks the group up. It fails with NotFound if the group
// does not exist, FailedPrecondition if it has no memory limit. `machine` must outlive the result.
std::unique_ptr<MemorySource> GroupMemory(const CgroupMounts& mounts, std::string path,
                                          MemorySource& machine);

}  // namespace taut::node
