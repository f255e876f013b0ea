// Saved states of the daemon's components, as rows of the store: the newest state of each name, and two logs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/store/request_log.h"

namespace taut::server {

// Thread-safe. A call waits at most for write transactions that began before the call, such as the transaction of
// a pass.
class States {
 public:
  virtual ~States() = default;

  // Replaces the state of this name; "" deletes the state. After OK, the new state survives a kill of the process.
  // After Unavailable (disk full, store deleted), the state is unchanged and the caller can retry.
  virtual absl::Status Put(std::string_view name, std::string_view bytes) = 0;
  // Returns the state of this name, or nullopt if there is none. Returns DataLoss if the state is damaged.
  virtual absl::StatusOr<std::optional<std::string>> Get(std::string_view name) = 0;
  // Returns the log of requests for quota. The reference is valid as long as this object exists.
  virtual RequestLog& requests() = 0;
  // Returns the budget ledger. The reference is valid as long as this object exists.
  virtual RequestLog& budgets() = 0;
};

}  // namespace taut::server
