// Copies of a store and of the ledgers beside it, made before a daemon writes by a clock that may be wrong.
#pragma once

#include <string>
#include <utility>

#include "absl/status/status.h"

namespace taut::server {

// A SQLite file `from` as of one moment, with what is in its write-ahead log, as the file `to`, also where another
// process writes to it. Replaces `to`.
absl::Status CopyDatabase(const std::string& from, const std::string& to);

class StoreCopies {
 public:
  // `store_path`: "memory", of which nothing is copied, or the file of the store.
  explicit StoreCopies(std::string store_path) : path_(std::move(store_path)) {}

  // "PATH.before-clock".
  static std::string Name(const std::string& path) { return path + ".before-clock"; }
  // Of the store, the ledger of budgets and the log of requests, of those that are there: whole, with what is in
  // their write-ahead logs. Replaces older copies. O(bytes). Unavailable: the disk is full, or cannot be written;
  // then there are none.
  absl::Status Make() const;
  void Drop() const;

 private:
  std::string path_;
};

}  // namespace taut::server
