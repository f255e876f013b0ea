// State of the daemon's parts, as rows of the store: the newest state of each name, and two logs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/store/request_log.h"

namespace taut::server {

// Thread-safe. A call waits at most for the transactions that began before it, such as that of a pass.
class States {
 public:
  virtual ~States() = default;

  // Replaces the state of this name; "" deletes it. OK: it survives a kill of the process. Unavailable: retry
  // (disk full, store deleted); the state is unchanged.
  virtual absl::Status Put(std::string_view name, std::string_view bytes) = 0;
  // Returns nullopt if there is no state of this name. DataLoss: it is damaged.
  virtual absl::StatusOr<std::optional<std::string>> Get(std::string_view name) = 0;
  // Returns the log of requests for quota, which lives as long as this object.
  virtual RequestLog& requests() = 0;
  // Returns the budget ledger, likewise.
  virtual RequestLog& budgets() = 0;
};

}  // namespace taut::server
