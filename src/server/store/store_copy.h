// Copy of a store, made before a daemon writes by a clock that may be wrong.
#pragma once

#include <string>
#include <utility>

#include "absl/status/status.h"

namespace taut::server {

// Copies an SQLite file at one instant, including its write-ahead log, also while another process writes to
// it. Replaces `to`. O(bytes).
absl::Status CopyDatabase(const std::string& from, const std::string& to);

class StoreCopy {
 public:
  // `store_path`: path of the store, or "memory", which has no copy.
  explicit StoreCopy(std::string store_path) : path_(std::move(store_path)) {}

  // Returns "PATH.before-clock".
  static std::string Name(const std::string& path) { return path + ".before-clock"; }
  // Copies the store, if it exists, including its write-ahead log. Replaces an older copy. O(bytes).
  // Unavailable: the disk is full or not writable; then there is no copy.
  absl::Status Make() const;
  // Deletes the copy.
  void Drop() const;

 private:
  std::string path_;
};

}  // namespace taut::server
