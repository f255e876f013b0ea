// Files of the store: for their owner alone, and there after a loss of power.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"

namespace taut::server {

// Usage, names and settings are private: makes the file for its owner alone, and closes one that others may
// read to them. SQLite gives its log the mode of the file. Failures are SQLite's to report.
void CloseToOthers(const std::string& path);
// Which file it is, wherever its name goes.
struct FileIdentity {
  uint64_t device = 0, inode = 0;
  bool operator==(const FileIdentity&) const = default;
};
// Absent if there is no file of this name, or it has no name any more.
std::optional<FileIdentity> IdentityOf(const std::string& path);

// A file that is new is only there after the loss of power if its directory says so. Unavailable.
absl::Status SyncDirectoryOf(const std::string& path);

}  // namespace taut::server
