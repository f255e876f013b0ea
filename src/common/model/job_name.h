// Which texts may be names of jobs and tasks, or parts of them.
#pragma once

#include <string_view>

namespace taut {

// Whether a part between slashes is "." or "..": a client that normalises the path of a URL would ask for another
// job.
inline bool HasDotPart(std::string_view name) {
  while (true) {
    const size_t slash = name.find('/');
    const std::string_view part = name.substr(0, slash);
    if (part == "." || part == "..") return true;
    if (slash == std::string_view::npos) return false;
    name.remove_prefix(slash + 1);
  }
}

}  // namespace taut
