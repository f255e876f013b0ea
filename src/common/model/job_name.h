// Checks names of jobs and tasks.
#pragma once

#include <string_view>

namespace taut {

// Returns true if a part between slashes is "." or "..". A client that normalises URL paths would request
// another job instead of a job with such a name.
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
