// A DaemonLog that keeps its lines in memory, for tests.
#pragma once

#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/daemon_log.h"

namespace taut {

// Thread-safe.
class RecordedLog final : public DaemonLog {
 public:
  void Say(LogLevel /*level*/, std::string_view text) override { Add(std::string(text)); }
  void Act(LogLevel /*level*/, std::string_view action, std::span<const LogField> fields) override {
    Add(LogText(action, fields));
  }
  // Returns a copy of all lines in their order; events are formatted by LogText, and levels are left out.
  std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  void Add(std::string line) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::move(line));
  }

  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

}  // namespace taut
