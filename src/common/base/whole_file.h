// A small file that is there whole or not at all.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace taut {

// Replaces the file by one of these bytes, for its owner only, and waits until the disk has them. Unavailable
// names the path; the file is then as it was.
absl::Status WriteWhole(const std::string& path, std::string_view bytes);
// What is in it; nullopt if there is no such file, "" if it cannot be read.
std::optional<std::string> ReadWhole(const std::string& path);

}  // namespace taut
