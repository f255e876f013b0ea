// The log of tautd and tautlet: standard error, as text or one JSON object per line. Actions (a limit set, an
// OOM kill, a connection lost) are lines with typed fields.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "common/base/daemon_log.h"

namespace taut::tools {

// Configures spdlog's default logger. `level`: debug, info, warning or error. `format`: text or json. Returns
// InvalidArgument with the allowed values for other values.
absl::Status SetUpLogging(std::string_view level, std::string_view format);

// Writes to spdlog. Thread-safe. A line of an action has an `action` ("limit_set"), a plain message has a
// `message`.
class ProgramLog final : public DaemonLog {
 public:
  void Say(LogLevel level, std::string_view text) override;
  void Act(LogLevel level, std::string_view action, std::span<const LogField> fields) override;
};

}  // namespace taut::tools
