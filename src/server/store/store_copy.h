// Copy of a store, made before the daemon writes with a clock that may be wrong.
#pragma once

#include <string>
#include <utility>

#include "absl/status/status.h"

namespace taut::server {

// Copies an SQLite file as of one instant, including its write-ahead log, even while another process writes
// to the file. Replaces `to`. The copy is on disk at the return. O(bytes).
absl::Status CopyDatabase(const std::string& from, const std::string& to);

class StoreCopy {
 public:
  // `store_path`: path of the store, or "memory", for which no copy is made.
  explicit StoreCopy(std::string store_path) : path_(std::move(store_path)) {}

  // Returns the path of the copy, "PATH.before-clock".
  static std::string Name(const std::string& path) { return path + ".before-clock"; }
  // Copies the store, if the store exists, including its write-ahead log. Replaces an older copy. Returns
  // Unavailable, without a copy, if the disk is full or not writable. O(bytes).
  absl::Status Make() const;
  // Deletes the copy.
  void Drop() const;

 private:
  std::string path_;
};

}  // namespace taut::server
