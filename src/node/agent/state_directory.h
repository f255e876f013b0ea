// The agent's state directory, which contains its ledger and its queue.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace taut::node {

// Creates the directory and locks it until the process ends: two agents with one directory would undo each
// other's changes. Unavailable if another agent holds the lock, or if the directory cannot be written.
absl::Status LockStateDirectory(const std::string& path);
// Checks that this user may write or create the directory, without changing anything. InvalidArgument
// otherwise.
absl::Status CheckStateDirectory(const std::string& path);

}  // namespace taut::node
