// The cgroups of this process.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace taut::node {

// Returns the paths in all hierarchies from the text of /proc/self/cgroup, each once and without "/". A path
// may contain ':'.
std::vector<std::string> ParseOwnCgroups(std::string_view text);
// Returns the cgroup paths of this process; empty if /proc/self/cgroup cannot be read.
std::vector<std::string> OwnCgroups();

}  // namespace taut::node
