// Where requests for quota outlive the daemon: an append-only list of the state of each, when and by whom.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace taut::server {

struct RequestLogEntry {
  uint64_t request = 0;  // its number
  int64_t time_s = 0;
  std::string who;
  std::string text;  // the request as it is from then on; opaque to the log
};

// Thread-safe.
class RequestLog {
 public:
  virtual ~RequestLog() = default;

  // All of them or none, durable against a kill when it returns OK. Unavailable: try again (disk full, busy).
  virtual absl::Status Append(std::span<const RequestLogEntry> entries) = 0;
  // Whether it is still where it was opened. Unavailable: deleted or replaced, and Append fails. Quick.
  virtual absl::Status Check() = 0;
  // In the order of Append. An entry that is damaged is left out and named in `on_damage`.
  virtual absl::Status Read(absl::FunctionRef<void(const RequestLogEntry&)> yield,
                            absl::FunctionRef<void(const std::string&)> on_damage) = 0;
  // Drops all entries of these requests.
  virtual absl::Status Forget(std::span<const uint64_t> requests) = 0;
};

}  // namespace taut::server
