// Reads and atomically replaces small files.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace taut {

// Replaces the file's content atomically, with mode 0600, and returns when the bytes are on disk. Writes
// PATH.new first and renames it. On Unavailable, which names the path, the file is unchanged. One writer per
// path.
absl::Status WriteWhole(const std::string& path, std::string_view bytes);
// Returns the content; nullopt if there is no such file, "" if it cannot be read.
std::optional<std::string> ReadWhole(const std::string& path);

}  // namespace taut
