// The log lines about the watches of a cluster. If the API server cannot be reached, one line is logged for
// all watches together, and one when all watches work again. Refusals by the server are logged for each kind.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>

#include "absl/status/status.h"

namespace taut::server {

// Stores the last result of each watch. Thread-safe.
class WatchLog {
 public:
  struct Line {
    std::string text;  // "" if nothing is to be logged
    bool is_warning = false;
  };
  // Stores the result of an attempt to list or watch, and returns the line to log. `what`: the watched kind.
  Line Note(const std::string& what, const absl::Status& status);

 private:
  std::mutex mutex_;
  std::set<std::string> unreachable_;           // kinds whose last attempt could not connect to the server
  std::map<std::string, std::string> refused_;  // text of the error, by kind
};

}  // namespace taut::server
