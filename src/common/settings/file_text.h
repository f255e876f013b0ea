// Reads small files whole.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace taut {

// Returns the file's bytes, but at most `most` + 1 bytes, so that the caller can detect a larger file. nullopt if
// the file cannot be read.
std::optional<std::string> ReadFileText(const std::string& path, size_t most);

}  // namespace taut
