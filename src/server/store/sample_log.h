// Samples that were acknowledged but whose window is not stored yet, kept beside the store, so that a restart
// or a kill does not lose them.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "common/base/time.h"

namespace taut::server {

// A request as it was taken in.
struct LoggedWrite {
  Timestamp now;          // the clock it was taken in by
  Timestamp newest;       // the newest sample of all so far, this request's included; never falls
  std::string_view body;  // as it came
};

class SampleLog {
 public:
  virtual ~SampleLog() = default;

  // Thread-safe. O(bytes). Only a later Flush makes it outlive a kill.
  virtual void Append(const LoggedWrite& write) = 0;
  // Thread-safe. Gives what was appended to the system: from then on it outlives a kill; with `sync` the loss
  // of power, too. Not OK: what could not be written is lost to a kill, and later Appends try again.
  virtual absl::Status Flush(bool sync) = 0;
  // What the previous writer kept, in its order. Damaged entries are left out and reported in
  // `damage`. Before the first Append.
  virtual absl::Status Read(absl::FunctionRef<void(const LoggedWrite&)> yield,
                            absl::FunctionRef<void(std::string_view damage)> on_damage) = 0;
  // Appended, and not given to the system yet. Thread-safe.
  virtual uint64_t unwritten_bytes() const = 0;
  // Entries with `newest` before this time need not be kept any longer. One thread.
  virtual void Forget(Timestamp before) = 0;
};

}  // namespace taut::server
