// A store and the files beside it, as one folder and back.
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
// into the new folder `folder`, also while a tautd writes to them. The store is read last, so that what the
// others tell of is in it. The files are for their owner alone. NotFound: there is no store; AlreadyExists:
// there is a folder; nothing of that name is left after any other error.
absl::StatusOr<std::vector<BackedUpFile>> BackUpStore(const std::string& path, const std::string& folder);

// Copies a folder of BackUpStore to `path` and beside it. AlreadyExists: a store is there, or files of one;
// FailedPrecondition: a tautd uses it; NotFound: `folder` is none of BackUpStore.
absl::StatusOr<std::vector<BackedUpFile>> RestoreStore(const std::string& folder, const std::string& path);

}  // namespace taut::server
