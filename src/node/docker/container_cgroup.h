// Finds the cgroup of a container.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "node/cgroup/cgroup_mounts.h"

namespace taut::node {

struct ContainerCgroup {
  // Path below the hierarchy's root: "/docker/4f5e...", "/system.slice/docker-4f5e....scope".
  std::string path;
  CgroupVersion version = CgroupVersion::kV1;  // version of the memory controller
};

// Parses the text of /proc/PID/cgroup of the first process of container `id`. On v1 the line of the memory
// controller is used, otherwise the line of v2. The process may have moved into a group below the
// container's: the path ends with the component that contains the id. NotFound if no path contains the id, as
// when the PID belongs to another process by now.
absl::StatusOr<ContainerCgroup> ParseContainerCgroup(std::string_view text, std::string_view id);

}  // namespace taut::node
