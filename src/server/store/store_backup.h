// Backs up a store and the files beside it to one folder, and restores this backup.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace taut::server {

struct BackedUpFile {
  std::string name;  // name of the file in the folder
  uint64_t bytes = 0;
};

// Copies the store `path` and the files beside it (open samples, requests, budgets, prices, machines, ...) into
// the new folder `folder`, even while a tautd writes to them. The store is copied last, so that the copy contains
// all data to which the other files refer. Only the owner can access the copies, which are on disk at the return.
// Returns NotFound if there is no store, and AlreadyExists if the folder exists. After any other error, `folder`
// does not exist.
absl::StatusOr<std::vector<BackedUpFile>> BackUpStore(const std::string& path, const std::string& folder);

// Restores the store `path` and the files beside the store from `folder`, which BackUpStore made. Returns
// AlreadyExists if the store or a file beside the store exists, FailedPrecondition if a tautd uses the store, and
// NotFound if BackUpStore did not make `folder`.
absl::StatusOr<std::vector<BackedUpFile>> RestoreStore(const std::string& folder, const std::string& path);

}  // namespace taut::server
