// State of one component that survives a restart: a named state in the store.
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

// Used by one thread at a time, except failed_writes(). The store "memory" keeps nothing.
class KeptState {
 public:
  // `what` is the subject of log lines: "the state of machines". `context` outlives the object.
  KeptState(std::string name, std::string what, const DaemonContext& context)
      : name_(std::move(name)), what_(std::move(what)), context_(context) {}

  // Returns false if Write does nothing.
  bool kept() const { return context_.states != nullptr && context_.store_path != "memory"; }
  // Returns nullopt if there is no state. DataLoss: it is damaged.
  absl::StatusOr<std::optional<std::string>> Read() const;
  // Replaces the state; "" deletes it. Unavailable as States::Put.
  absl::Status Write(std::string_view bytes);
  // Same; logs each failure once, and the first success after it.
  void WriteOrLog(std::string_view bytes);
  uint64_t failed_writes() const { return failed_; }  // thread-safe

 private:
  const std::string name_, what_;
  const DaemonContext& context_;
  std::string said_;  // last failure that was logged
  std::atomic<uint64_t> failed_ = 0;
};

}  // namespace taut::server
