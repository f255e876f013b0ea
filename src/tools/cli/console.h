// Replaces the terminal, the signals and the trace files of a command that runs inside another program.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace taut::tools {

struct ReadReport;
struct TraceOptions;
class TraceSink;

// Input and output of a command. The command calls the functions from its threads.
struct Console {
  std::function<void(std::string_view what, double share)> on_progress;  // null: no progress
  std::function<bool()> should_stop;  // returns true when the command must stop; null: never
  // Reads the usage that the path kGivenUsage represents; null: there is no such usage.
  std::function<absl::Status(const TraceOptions&, TraceSink&, ReadReport&)> read_usage;

  std::string text;  // output of the command
  std::string error;
  std::vector<std::string> warnings;
};

// The path of the usage that Console::read_usage reads.
inline constexpr std::string_view kGivenUsage = "(table)";

// Makes all commands of the process use `console` until the object is destroyed: they write nothing to standard
// output and standard error, and install no signal handler. A second object waits until the first is destroyed.
class UseConsole {
 public:
  explicit UseConsole(Console& console);
  ~UseConsole();
  UseConsole(const UseConsole&) = delete;
  UseConsole& operator=(const UseConsole&) = delete;
};

// Returns the console in use; null: commands use the process's terminal.
Console* CurrentConsole();

}  // namespace taut::tools
