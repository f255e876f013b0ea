// The log of tautd and tautlet: text or JSON lines on standard error. An action (a limit set, an OOM kill, a
// connection lost) is a line with typed fields.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "common/base/daemon_log.h"

namespace taut::tools {

// Configures spdlog's default logger. `level`: debug, info, warning or error. `format`: text or json. Returns
// InvalidArgument with the allowed values if a value is unknown.
absl::Status SetUpLogging(std::string_view level, std::string_view format);

// Writes to spdlog. Thread-safe. In JSON, an action has a field `action`, such as "limit_set", and a plain message
// has a field `message`.
class ProgramLog final : public DaemonLog {
 public:
  void Say(LogLevel level, std::string_view text) override;
  void Act(LogLevel level, std::string_view action, std::span<const LogField> fields) override;
};

}  // namespace taut::tools
