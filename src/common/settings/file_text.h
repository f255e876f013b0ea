// Reads small files whole.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace taut {

// Returns the file's bytes, or the first `most` + 1 if it is larger, so that the caller can detect that;
// nullopt if it cannot be read.
std::optional<std::string> ReadFileText(const std::string& path, size_t most);

}  // namespace taut
