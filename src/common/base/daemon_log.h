// The log of a daemon, as an interface for its components. Libraries return errors. A component with threads
// of its own has no caller that could receive an error, so it logs the error here. The program implements the
// interface.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "common/base/log_line.h"

namespace taut {

enum class LogLevel : uint8_t { kDebug, kInfo, kWarning, kError };

// Thread-safe.
class DaemonLog {
 public:
  virtual ~DaemonLog() = default;
  // Logs a human-readable sentence.
  virtual void Say(LogLevel level, std::string_view text) = 0;
  // Logs an event with typed fields; `action` names it, for example "pod_evicted". The fields are read during
  // the call.
  virtual void Act(LogLevel level, std::string_view action, std::span<const LogField> fields) = 0;

  // Shorthands for Say and Act.
  void Info(std::string_view text) { Say(LogLevel::kInfo, text); }
  void Warn(std::string_view text) { Say(LogLevel::kWarning, text); }
  void Error(std::string_view text) { Say(LogLevel::kError, text); }
  void Act(LogLevel level, std::string_view action, std::initializer_list<LogField> fields) {
    Act(level, action, std::span<const LogField>(fields.begin(), fields.size()));
  }
};

}  // namespace taut
