// What is logged of the watches of a cluster: one line when the API server cannot be reached, however many watches
// notice it, and one when all of them work again. What the server refuses is said of each kind.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>

#include "absl/status/status.h"

namespace taut::server {

// Thread-safe.
class WatchLog {
 public:
  struct Line {
    std::string text;  // "": nothing is to be logged
    bool is_warning = false;
  };
  // `what`: the kind that is watched. `status`: of the last attempt.
  Line Note(const std::string& what, const absl::Status& status);

 private:
  std::mutex mutex_;
  std::set<std::string> unreachable_;           // kinds
  std::map<std::string, std::string> refused_;  // by kind, why
};

}  // namespace taut::server
