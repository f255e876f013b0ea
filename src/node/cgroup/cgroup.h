// A cgroup as a task: measured and limited through the kernel's files, with one interface for v1 and v2.
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

// Opens the group at `path` ("/system.slice/web.service") with all groups below it. NotFound if the group does not
// exist, or if `inode` is given and the group at `path` has another inode.
//
// Handles: the directories and the files that are read each second stay open (v2: 5 descriptors, v1: up to 8). All
// other files are opened relative to the directory, so a new group at the same path is never mistaken for this
// group. The group counts as removed when its directory in mounts.home() is removed.
//
// Reading: kUsage costs two reads of small files and no allocation (cgroup_bench.cc). The working set needs
// memory.stat, for which the kernel adds up all CPUs. kUsage therefore reads memory.stat only if memory_bytes has
// changed by more than 1 % since the last such read, or at every tenth reading. In between, the working set is
// computed from the last figure of inactive file pages. kAll always reads memory.stat. On v1, pressure is read
// from the group at the same path in the v2 hierarchy, if such a group exists. oom_kills counts processes of the
// group itself, not of groups below it, and memory_max_events is failcnt.
//
// Setting: below the usage, v1 reclaims or rejects a memory limit (EBUSY). v2 would reclaim and then kill, so
// SetLimit reads memory.current first. If the excess is inactive page cache, SetLimit reclaims the excess
// (memory.reclaim, Linux 5.19); otherwise it writes nothing and returns ResourceExhausted, as on v1. The task may
// still grow between reading and writing: keep a margin. v1's limit of memory and swap moves with the memory
// limit, so that the owner's swap allowance stays. cpu.max keeps its period; a quota below 1 ms a period becomes 1
// ms. On v1 a weight is converted to shares.
//
// Errors: InvalidArgument if the value is not a number, not above 0, a weight outside 1 .. 10,000, or rejected by
// the kernel (v1: more CPU than a group above has). PermissionDenied if the file may not be written.
//
// oom_wakeup: v2 memory.events with EPOLLPRI (and EPOLLERR), v1 an eventfd with EPOLLIN. The wakeup also becomes
// ready when the limit was met without a kill. On v2 it stays ready once the group is removed; the caller must
// then remove the descriptor from its epoll set.
absl::StatusOr<std::unique_ptr<TaskGroup>> OpenCgroup(const CgroupMounts& mounts, std::string_view path,
                                                      std::optional<uint64_t> inode = std::nullopt);

// The identity of a FoundTask, "cgroup:/system.slice/web.service#1234". The kernel does not reuse inodes.
struct CgroupIdentity {
  std::string path;
  uint64_t inode = 0;

  std::string Text() const;
  // Parses an identity; nullopt if the text does not have this form.
  static std::optional<CgroupIdentity> Parse(std::string_view text);
};

}  // namespace taut::node
