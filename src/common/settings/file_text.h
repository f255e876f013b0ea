// Files that are small, as a whole.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace taut {

// The file's bytes, but not more than one above `most`: then it is too large. nullopt: it cannot be read.
std::optional<std::string> ReadFileText(const std::string& path, size_t most);

}  // namespace taut
