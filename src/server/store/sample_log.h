// Log of acknowledged samples whose window is not stored yet. The log is beside the store, so that a restart
// or a kill loses no samples.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "common/base/time.h"

namespace taut::server {

// One accepted request.
struct LoggedWrite {
  Timestamp now;          // the daemon's time at acceptance
  Timestamp newest;       // time of the newest sample so far, including this request; never decreases
  std::string_view body;  // bytes as received
};

class SampleLog {
 public:
  virtual ~SampleLog() = default;

  // Buffers a write. A kill before the next Flush loses the write. Thread-safe. O(bytes).
  virtual void Append(const LoggedWrite& write) = 0;
  // Writes the buffer to the file. After OK, the buffered writes survive a kill, and with `sync` also a loss of
  // power. On an error, a kill loses the buffered writes; later calls try again. Thread-safe.
  virtual absl::Status Flush(bool sync) = 0;
  // Reads the writes of the previous process, in order. Skips damaged parts, and calls `on_damage` with a sentence
  // for each damaged part. Called before the first Append.
  virtual absl::Status Read(absl::FunctionRef<void(const LoggedWrite&)> yield,
                            absl::FunctionRef<void(std::string_view damage)> on_damage) = 0;
  // Returns the number of bytes that are not written to a file yet. Thread-safe.
  virtual uint64_t unwritten_bytes() const = 0;
  // Allows the log to delete entries whose `newest` is before `before`. One thread calls this function.
  virtual void Forget(Timestamp before) = 0;
};

}  // namespace taut::server
