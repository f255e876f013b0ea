// Log of quota requests that survives a restart: an append-only list of the states of each request, with time
// and person.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace taut::server {

struct RequestLogEntry {
  uint64_t request = 0;  // number of the request
  int64_t time_s = 0;
  std::string who;
  std::string text;  // new state of the request; opaque to the log
};

// Thread-safe.
class RequestLog {
 public:
  virtual ~RequestLog() = default;

  // Appends all entries or none. After OK, the entries survive a kill of the process. After Unavailable (disk
  // full, busy), the caller can retry.
  virtual absl::Status Append(std::span<const RequestLogEntry> entries) = 0;
  // Returns Unavailable if the log was deleted or replaced, so that Append would fail. Does not read entries.
  virtual absl::Status Check() = 0;
  // Reads the entries in the order of Append. Skips damaged entries, and calls `on_damage` with a sentence for
  // each damaged entry.
  virtual absl::Status Read(absl::FunctionRef<void(const RequestLogEntry&)> yield,
                            absl::FunctionRef<void(const std::string&)> on_damage) = 0;
  // Deletes all entries of these requests.
  virtual absl::Status Forget(std::span<const uint64_t> requests) = 0;
};

}  // namespace taut::server
