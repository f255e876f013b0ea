// The cgroups that this process is in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace taut::node {

// Paths in all hierarchies, each once, from the text of /proc/self/cgroup; "/" is left out. A path with ':' in
// it is whole.
std::vector<std::string> ParseOwnCgroups(std::string_view text);
// Of this process. Empty if the file cannot be read.
std::vector<std::string> OwnCgroups();

}  // namespace taut::node
