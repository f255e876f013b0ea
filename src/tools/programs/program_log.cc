#include "tools/programs/program_log.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include "absl/status/status.h"
#include "common/base/strings.h"
#include "fmt/chrono.h"
#include "spdlog/sinks/stdout_color_sinks.h"
#include "spdlog/spdlog.h"

namespace taut::tools {
namespace {

// name of the logger for actions, whose lines are already formatted
constexpr std::string_view kActions = "actions";

struct LogState {
  bool json = false;
  std::shared_ptr<spdlog::logger> actions;
};
LogState& State() {
  static LogState state;
  return state;
}

std::string TimeText(std::chrono::system_clock::time_point at) {
  const auto ms = std::chrono::time_point_cast<std::chrono::milliseconds>(at);
  const auto seconds = std::chrono::time_point_cast<std::chrono::seconds>(ms);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)), (ms - seconds).count());
}

std::string_view View(const spdlog::string_view_t& text) { return {text.data(), text.size()}; }

std::string_view LevelName(spdlog::level::level_enum level) {
  return View(spdlog::level::to_string_view(level));
}

// Formats each line as JSON. Actions already are JSON; plain messages are converted.
class JsonFormatter final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    std::string line;
    if (View(message.logger_name) == kActions) {
      line = View(message.payload);
    } else {
      const LogField fields[] = {{"message", View(message.payload)}};
      line = LogJson(TimeText(message.time), LevelName(message.level), "", fields);
    }
    line += '\n';
    out.append(line.data(), line.data() + line.size());
  }
  std::unique_ptr<spdlog::formatter> clone() const override { return std::make_unique<JsonFormatter>(); }
};

spdlog::level::level_enum SpdlogLevel(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

void Log(spdlog::level::level_enum level, std::string_view action, std::span<const LogField> fields) {
  const LogState& state = State();
  spdlog::logger* logger = state.actions ? state.actions.get() : spdlog::default_logger_raw();
  if (!logger->should_log(level)) return;
  const std::string line =
      state.json ? LogJson(TimeText(std::chrono::system_clock::now()), LevelName(level), action, fields)
                 : LogText(action, fields);
  logger->log(level, spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace

absl::Status SetUpLogging(std::string_view level, std::string_view format) {
  constexpr std::pair<std::string_view, spdlog::level::level_enum> kLevels[] = {
      {"debug", spdlog::level::debug},
      {"info", spdlog::level::info},
      {"warning", spdlog::level::warn},
      {"error", spdlog::level::err}};
  const auto* const known =
      std::find_if(std::begin(kLevels), std::end(kLevels), [&](const auto& l) { return l.first == level; });
  if (known == std::end(kLevels)) {
    return absl::InvalidArgumentError(
        StrCat("invalid log level \"", level, "\": expected debug, info, warning or error"));
  }
  if (format != "text" && format != "json") {
    return absl::InvalidArgumentError(StrCat("invalid log format \"", format, "\": expected text or json"));
  }
  auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
  auto plain = std::make_shared<spdlog::logger>("", sink);
  State().json = format == "json";
  State().actions = std::make_shared<spdlog::logger>(std::string(kActions), sink);
  if (State().json) {
    sink->set_formatter(std::make_unique<JsonFormatter>());
  } else {
    sink->set_pattern("%Y-%m-%dT%H:%M:%S.%e %^%l%$ %v");
  }
  for (const auto& logger : {plain, State().actions}) {
    logger->set_level(known->second);
    logger->flush_on(spdlog::level::info);
  }
  spdlog::set_default_logger(plain);
  return absl::OkStatus();
}

void ProgramLog::Say(LogLevel level, std::string_view text) { spdlog::log(SpdlogLevel(level), "{}", text); }
void ProgramLog::Act(LogLevel level, std::string_view action, std::span<const LogField> fields) {
  Log(SpdlogLevel(level), action, fields);
}

}  // namespace taut::tools
