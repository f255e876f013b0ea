// Free memory of the machine and of a cgroup.
#pragma once

#include <memory>
#include <string>

#include "node/agent/memory_source.h"
#include "node/cgroup/cgroup_mounts.h"

namespace taut::node {

// Returns the machine's memory: MemTotal and MemAvailable of PROC/meminfo, and PROC/pressure/memory if the kernel
// has this file. Each Read reads two small files, and fails with Unavailable if meminfo has no MemAvailable.
std::unique_ptr<MemorySource> MachineMemory(std::string proc_dir = "/proc");
// Returns the memory of the group at `path`. The total is the group's limit, and free memory is the unused part of
// the limit (inactive file pages count as free); both are at most the machine's. Pressure is read from the group.
// Each Read opens the group anew. Read fails with NotFound if the group does not exist, and with
// FailedPrecondition if the group has no memory limit. `machine` must outlive the result.
std::unique_ptr<MemorySource> GroupMemory(const CgroupMounts& mounts, std::string path,
                                          MemorySource& machine);

}  // namespace taut::node
