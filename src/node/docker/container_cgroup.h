// Where a container's cgroup is.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "node/cgroup/cgroup_mounts.h"

namespace taut::node {

struct ContainerCgroup {
  std::string
      path;  // from the root of the hierarchy: "/docker/4f5e...", "/system.slice/docker-4f5e....scope"
  CgroupVersion version = CgroupVersion::kV1;  // of the memory controller
};

// Reads the text of /proc/PID/cgroup, where PID is the first process of container `id`. On v1 the line of the
// memory controller counts, else the one of v2. A process may have moved into a group of its own below the
// container's: the path ends with the component that has the id. NotFound if there is none, as when the PID
// is another process by now.
absl::StatusOr<ContainerCgroup> ParseContainerCgroup(std::string_view text, std::string_view id);

}  // namespace taut::node
