// What is free of a machine's memory and of a cgroup's.
#pragma once

#include <memory>
#include <string>

#include "node/agent/memory_source.h"
#include "node/cgroup/cgroup_mounts.h"

namespace taut::node {

// MemTotal and MemAvailable of PROC/meminfo, and PROC/pressure/memory where the kernel has it. A Read costs two
// small files. Unavailable: meminfo has no MemAvailable.
std::unique_ptr<MemorySource> MachineMemory(std::string proc_dir = "/proc");
// The group at `path`: its limit, what is left of it (inactive file pages count as free), but not more than
// `machine` has, and the pressure in it. The group is looked up at each Read. NotFound: it is not there;
// FailedPrecondition: it has no memory limit. `machine` must outlive it.
std::unique_ptr<MemorySource> GroupMemory(const CgroupMounts& mounts, std::string path,
                                          MemorySource& machine);

}  // namespace taut::node
