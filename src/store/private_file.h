// Files of the store: for their owner alone, and there after a loss of power.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace taut {

// Usage, names and settings are private: makes the file for its owner alone, and closes one that others may
// read to them. SQLite gives its log the mode of the file. Failures are SQLite's to report.
void CloseToOthers(const std::string& path);
// A file that is new is only there after the loss of power if its directory says so. Unavailable.
absl::Status SyncDirectoryOf(const std::string& path);

}  // namespace taut
