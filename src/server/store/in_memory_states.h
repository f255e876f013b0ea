// States in memory: for a daemon without a store, and for tests.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "server/store/in_memory_request_log.h"
#include "server/store/states.h"

namespace taut::server {

class InMemoryStates final : public States {
 public:
  absl::Status Put(std::string_view name, std::string_view bytes) override {
    const std::lock_guard lock(mutex_);
    if (!fails.ok()) return fails;
    states_.insert_or_assign(std::string(name), std::string(bytes));
    return absl::OkStatus();
  }
  absl::StatusOr<std::optional<std::string>> Get(std::string_view name) override {
    const std::lock_guard lock(mutex_);
    const auto found = states_.find(name);
    if (found == states_.end() || found->second.empty()) return std::nullopt;
    return found->second;
  }
  InMemoryRequestLog& requests() override { return requests_; }
  InMemoryRequestLog& budgets() override { return budgets_; }

  // Result of Put. If the result is an error, Put stores nothing. Set before other threads use the object.
  absl::Status fails;

 private:
  std::mutex mutex_;  // lock for states_
  std::map<std::string, std::string, std::less<>> states_;
  InMemoryRequestLog requests_, budgets_;
};

}  // namespace taut::server
