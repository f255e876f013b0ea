// Reads small files whole.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace taut {

// Returns the file's bytes. Of a file larger than `most` it returns the first `most` + 1 bytes, so that the
// caller can detect the excess. nullopt if the file cannot be read.
std::optional<std::string> ReadFileText(const std::string& path, size_t most);

}  // namespace taut
