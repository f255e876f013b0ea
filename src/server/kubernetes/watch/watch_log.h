// The log lines about the watches of a cluster. All watches together log one line when the API server cannot
// be reached, and one when all of them work again. Refusals by the server are logged for each kind.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>

#include "absl/status/status.h"

namespace taut::server {

// Remembers the last result of each watch. Thread-safe.
class WatchLog {
 public:
  struct Line {
    std::string text;  // "" if nothing is to be logged
    bool is_warning = false;
  };
  // Stores the result of an attempt and returns the line for it. `what` is the watched kind.
  Line Note(const std::string& what, const absl::Status& status);

 private:
  std::mutex mutex_;
  std::set<std::string> unreachable_;           // kinds whose last attempt did not reach the server
  std::map<std::string, std::string> refused_;  // by kind, the error's text
};

}  // namespace taut::server
