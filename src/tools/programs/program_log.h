// The log of a program: standard error, as text or one JSON object a line, and a line for each act (a limit
// set, an OOM kill, a connection lost) with typed fields. Used by tautd and tautlet.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "common/base/daemon_log.h"

namespace taut::tools {

// Makes spdlog's default logger. `level`: debug, info, warning or error. `format`: text or json.
// InvalidArgument names what is allowed.
absl::Status SetUpLogging(std::string_view level, std::string_view format);

// Thread-safe, as spdlog is. Lines of acts have an `action` ("limit_set"); plain messages a `message`.
class ProgramLog final : public DaemonLog {
 public:
  void Say(LogLevel level, std::string_view text) override;
  void Act(LogLevel level, std::string_view action, std::span<const LogField> fields) override;
};

}  // namespace taut::tools
