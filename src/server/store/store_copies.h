// Copies of a store and its ledgers, made before a daemon writes by a clock that may be wrong.
#pragma once

#include <string>
#include <utility>

#include "absl/status/status.h"

namespace taut::server {

// Copies an SQLite file at one instant, including its write-ahead log, also while another process writes to
// it. Replaces `to`. O(bytes).
absl::Status CopyDatabase(const std::string& from, const std::string& to);

class StoreCopies {
 public:
  // `store_path`: path of the store, or "memory", which has no copies.
  explicit StoreCopies(std::string store_path) : path_(std::move(store_path)) {}

  // Returns "PATH.before-clock".
  static std::string Name(const std::string& path) { return path + ".before-clock"; }
  // Copies the store, the ledger of budgets and the log of requests, if they exist, including their
  // write-ahead logs. Replaces older copies. O(bytes). Unavailable: the disk is full or not writable; then
  // there are no copies.
  absl::Status Make() const;
  // Deletes the copies.
  void Drop() const;

 private:
  std::string path_;
};

}  // namespace taut::server
