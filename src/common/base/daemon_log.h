// The log of a daemon as its running parts see it. Libraries return errors; a part with threads of its own has
// no caller to return one to, and writes it here. The program gives the log.
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
  // Writes a sentence.
  virtual void Say(LogLevel level, std::string_view text) = 0;
  // Writes an act with typed fields: "pod_evicted".
  virtual void Act(LogLevel level, std::string_view action, std::span<const LogField> fields) = 0;

  void Info(std::string_view text) { Say(LogLevel::kInfo, text); }
  void Warn(std::string_view text) { Say(LogLevel::kWarning, text); }
  void Error(std::string_view text) { Say(LogLevel::kError, text); }
  void Act(LogLevel level, std::string_view action, std::initializer_list<LogField> fields) {
    Act(level, action, std::span<const LogField>(fields.begin(), fields.size()));
  }
};

}  // namespace taut
