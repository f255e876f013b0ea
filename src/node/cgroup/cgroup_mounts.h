// The mounts of cgroups on this machine: one tree for all controllers (v2), one for each (v1), or both.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace taut::node {

enum class CgroupVersion : uint8_t { kNone, kV1, kV2 };

// Mount points; "" for a hierarchy that is not mounted. A cgroup has the same path below each mount point.
struct CgroupMounts {
  std::string memory, cpu, cpuacct;  // v1 hierarchies; two may share a mount
  std::string unified;  // the v2 hierarchy; mounted beside v1, it provides little more than pressure (PSI)

  // Returns kV1 if memory is a v1 controller or if there is no v2, else kV2. The kernel has each controller in one
  // version only.
  CgroupVersion version() const;
  // Returns the mount point of the hierarchy with the memory controller. Tasks are searched in this
  // hierarchy, and it defines their lifetime.
  const std::string& home() const;
  // Returns a human-readable text: "cgroup v2", "cgroup v1" or "cgroup v1 and v2 (hybrid)".
  std::string_view description() const;
};

// Parses the text of /proc/self/mountinfo; lines that are not mounts are skipped. Of several mounts at one
// mount point, the last one is used. Of several mounts of one hierarchy, the first one that shows the whole
// hierarchy is used. `root` restricts the mounts to this directory and the directories below it
// ("/host/sys/fs/cgroup"); "": all mounts. NotFound if neither v2 nor a v1 hierarchy with memory or CPU is
// mounted.
absl::StatusOr<CgroupMounts> ParseCgroupMounts(std::string_view mountinfo, std::string_view root = "");
// Reads the mounts of this process. Returns the errors of ParseCgroupMounts, and NotFound if the file cannot
// be read.
absl::StatusOr<CgroupMounts> ReadCgroupMounts(std::string_view root = "");

}  // namespace taut::node
