// Where this machine keeps its cgroups: one tree with everything (v2), one tree a controller (v1), or both.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace taut::node {

enum class CgroupVersion : uint8_t { kNone, kV1, kV2 };

// Mount points, "" if there is none. A cgroup has the same path below each.
struct CgroupMounts {
  std::string memory, cpu, cpuacct;  // v1 hierarchies; two may be one mount
  std::string unified;               // the v2 hierarchy; beside v1 it knows pressure (PSI) and little else

  // kV1 if memory is a v1 controller, or if there is no v2; else kV2. The kernel has a controller in one of
  // them only.
  CgroupVersion version() const;
  // The hierarchy in which tasks are looked for and by which they live and die: the one with memory.
  const std::string& home() const;
  // "cgroup v2", "cgroup v1", "cgroup v1 and v2 (hybrid)": for people.
  std::string_view description() const;
};

// From the text of /proc/self/mountinfo. The last mount at a point counts, and of several mounts of one
// hierarchy the first that shows all of it. Lines that are not mounts are skipped. NotFound: neither v2
// nor a v1 hierarchy with memory or CPU is mounted.
// `root` "": all mounts; else only those at this directory or below it ("/host/sys/fs/cgroup").
absl::StatusOr<CgroupMounts> ParseCgroupMounts(std::string_view mountinfo, std::string_view root = "");
// Of this process. Also NotFound if the file cannot be read.
absl::StatusOr<CgroupMounts> ReadCgroupMounts(std::string_view root = "");

}  // namespace taut::node
