// Messages for the operator about damage that was found and skipped.
#pragma once

#include <cstddef>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace taut::server {

// Thread-safe. Stores each message once, and only the first kMost messages.
class DamageLog {
 public:
  static constexpr size_t kMost = 1000;
  void Add(std::string message) {
    const std::lock_guard lock(mutex_);
    if (messages_.size() < kMost) messages_.insert(std::move(message));
  }
  std::vector<std::string> messages() const {
    const std::lock_guard lock(mutex_);
    return {messages_.begin(), messages_.end()};
  }

 private:
  mutable std::mutex mutex_;
  std::set<std::string> messages_;
};

}  // namespace taut::server
