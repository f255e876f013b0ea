// Log lines about the watches of a cluster. An unreachable API server results in one line for all watches, and one
// line when all watches work again. Refusals are logged per kind.
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
    std::string text;  // text of the line; "": nothing is logged
    bool is_warning = false;
  };
  // Stores the result of a list or watch of the kind `what`, and returns the line to log.
  Line Note(const std::string& what, const absl::Status& status);

 private:
  std::mutex mutex_;
  std::set<std::string> unreachable_;           // kinds whose last attempt could not connect to the server
  std::map<std::string, std::string> refused_;  // text of the error by kind
};

}  // namespace taut::server
