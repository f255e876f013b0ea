// A cgroup as a task: measured and limited through the kernel's files, v1 and v2 alike.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "node/agent/task_group.h"
#include "node/cgroup/cgroup_mounts.h"

namespace taut::node {

// The group at `path` ("/system.slice/web.service") with all that lies below it. NotFound if it is not there,
// or if `inode` is given and another group has taken its name.
//
// Handles: the directories and the files read each second stay open (v2: 5 descriptors, v1: up to 8), all
// others are opened beside the directory, so a new group of the same path is never taken for this one. The
// group is gone when its directory in mounts.home() is.
//
// Reading. kUsage costs two reads of small files and no allocation (cgroup_bench.cc). The working set needs
// memory.stat, for which the kernel adds up over all CPUs: kUsage reads it again only if memory_bytes has
// moved by more than 1 % since, or at the tenth reading; in between the inactive file pages count as they
// were. kAll always reads it. v1: pressure comes from the group of the same path in the v2 hierarchy, if
// there is one; oom_kills counts the processes of the group itself, not of groups below it; memory_max_events
// is failcnt.
//
// Setting. memory.max below use: v1 reclaims or refuses (EBUSY). v2 would reclaim and then kill, so
// memory.current is read first; what is above `value` is reclaimed (memory.reclaim, Linux 5.19) if it is page
// cache out of use, and else nothing is written: ResourceExhausted, as on v1. Between the reading and the
// writing the task may still grow: keep a margin. v1's limit of memory and swap follows the memory limit, so
// that the owner's allowance of swap stays what it was. cpu.max keeps the period that is there; below 1 ms of
// quota a period it is 1 ms. On v1 a weight is the shares it stands for. InvalidArgument: not a number, not
// above 0, a weight outside 1 .. 10,000, or the kernel will not have it (v1: more CPU than a group above
// has). PermissionDenied: may not be written.
//
// oom_wakeup: v2 memory.events with EPOLLPRI (EPOLLERR comes with it), v1 an eventfd with EPOLLIN. It is
// ready too when the limit was met without a kill, and, on v2 for good, once the group is gone: drop it then.
absl::StatusOr<std::unique_ptr<TaskGroup>> OpenCgroup(const CgroupMounts& mounts, std::string_view path,
                                                      std::optional<uint64_t> inode = std::nullopt);

// "cgroup:/system.slice/web.service#1234": what a FoundTask is called. The kernel never gives an inode twice.
struct CgroupIdentity {
  std::string path;
  uint64_t inode = 0;

  std::string Text() const;
  static std::optional<CgroupIdentity> Parse(std::string_view text);
};

}  // namespace taut::node
