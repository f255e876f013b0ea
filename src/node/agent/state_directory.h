// The agent's state directory, which holds its ledger and its queue.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace taut::node {

// Creates the directory and takes its lock, which is held until the process ends: two agents on one directory
// would undo each other's work. Unavailable if another agent has it, or if it cannot be written.
absl::Status LockStateDirectory(const std::string& path);
// Whether this user may write the directory, or create it; changes nothing.
absl::Status CheckStateDirectory(const std::string& path);

}  // namespace taut::node
