// State of one component that survives a restart, as a named state in the store.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/control/component.h"

namespace taut::server {

// One thread at a time uses an object; failed_writes() is thread-safe. With the store "memory", no state is
// stored.
class KeptState {
 public:
  // `what`: subject of log lines, such as "the state of machines". `context` must outlive this object.
  KeptState(std::string name, std::string what, const DaemonContext& context)
      : name_(std::move(name)), what_(std::move(what)), context_(context) {}

  // Returns true if Write stores the state; false if Write does nothing.
  bool kept() const { return context_.states != nullptr && context_.store_path != "memory"; }
  // Returns the state; nullopt if none is stored. Returns DataLoss if the stored state is damaged.
  absl::StatusOr<std::optional<std::string>> Read() const;
  // Replaces the state; "" deletes it. Returns Unavailable as States::Put does.
  absl::Status Write(std::string_view bytes);
  // Calls Write. Logs each failure once, and the first success after a failure.
  void WriteOrLog(std::string_view bytes);
  uint64_t failed_writes() const { return failed_; }  // number of failed writes; thread-safe

 private:
  const std::string name_, what_;
  const DaemonContext& context_;
  std::string said_;  // last failure that was logged; "" if none
  std::atomic<uint64_t> failed_ = 0;
};

}  // namespace taut::server
