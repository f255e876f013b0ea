// RequestLog in memory: for a daemon without a store, and for tests.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "server/store/request_log.h"

namespace taut::server {

class InMemoryRequestLog final : public RequestLog {
 public:
  absl::Status Append(std::span<const RequestLogEntry> entries) override {
    const std::lock_guard lock(mutex_);
    if (!fails.ok()) return fails;
    entries_.insert(entries_.end(), entries.begin(), entries.end());
    return absl::OkStatus();
  }
  absl::Status Read(absl::FunctionRef<void(const RequestLogEntry&)> yield,
                    absl::FunctionRef<void(const std::string&)> /*on_damage*/) override {
    const std::lock_guard lock(mutex_);
    for (const RequestLogEntry& entry : entries_) yield(entry);
    return absl::OkStatus();
  }
  absl::Status Check() override {
    const std::lock_guard lock(mutex_);
    return gone;
  }
  absl::Status Forget(std::span<const uint64_t> requests) override {
    const std::lock_guard lock(mutex_);
    const std::set<uint64_t> forgotten(requests.begin(), requests.end());
    std::erase_if(entries_, [&](const RequestLogEntry& e) { return forgotten.contains(e.request); });
    return absl::OkStatus();
  }

  absl::Status gone;  // result of Check; set before other threads use the object
  // Result of Append. If the result is an error, Append stores nothing. Set before other threads use the object.
  absl::Status fails;

 private:
  std::mutex mutex_;
  std::vector<RequestLogEntry> entries_;
};

}  // namespace taut::server
