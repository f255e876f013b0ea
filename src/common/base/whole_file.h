// Reads and atomically replaces small files.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace taut {

// Replaces the file's content atomically, with mode 0600, and returns when the bytes are on disk. Writes PATH.new
// first and renames it. Returns Unavailable with the path on error; the file is then unchanged. At most one thread
// or process may write a path at a time.
absl::Status WriteWhole(const std::string& path, std::string_view bytes);
// Returns the file's content; nullopt if the file does not exist, "" if the file cannot be read.
std::optional<std::string> ReadWhole(const std::string& path);

}  // namespace taut
