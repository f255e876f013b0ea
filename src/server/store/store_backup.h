// Backs up a store and the files beside it to one folder, and restores them.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace taut::server {

struct BackedUpFile {
  std::string name;  // in the folder
  uint64_t bytes = 0;
};

// Copies the store `path` and the files beside it (open samples, requests, budgets, prices, machines, ...)
// into the new folder `folder`, also while a tautd writes to them. The store is copied last, so that it
// contains whatever the other files refer to. Only the owner can access the copies. NotFound: there is no
// store. AlreadyExists: the folder exists. After any other error, `folder` does not exist.
absl::StatusOr<std::vector<BackedUpFile>> BackUpStore(const std::string& path, const std::string& folder);

// Copies a folder of BackUpStore to `path` and beside it. AlreadyExists: there is a store, or a file of one.
// FailedPrecondition: a tautd uses it. NotFound: `folder` is not from BackUpStore.
absl::StatusOr<std::vector<BackedUpFile>> RestoreStore(const std::string& folder, const std::string& path);

}  // namespace taut::server
