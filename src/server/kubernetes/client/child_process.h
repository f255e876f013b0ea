// Runs a program without a shell and reads its output.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace taut::server {

struct ChildCommand {
  std::string path;                      // path of the program; it is not searched in PATH
  std::vector<std::string> arguments;    // without the program's name
  std::vector<std::string> environment;  // the complete environment, as "NAME=VALUE"
  size_t max_output_bytes = size_t{1} << 20;
  std::chrono::milliseconds timeout = std::chrono::seconds(60);
};

struct ChildOutput {
  std::string output;  // standard output
  std::string errors;  // the last bytes of standard error, printable
};

// Runs the program to its end. Its standard input is empty, it inherits no other descriptor, no signal is
// blocked or ignored, and it leads its own process group. Processes that it leaves behind may continue.
// Errors end with the last bytes of standard error and never contain output: NotFound (cannot be started),
// FailedPrecondition (an exit code other than 0, or a signal), ResourceExhausted (too much output),
// DeadlineExceeded (timeout) and Cancelled, soon after `stopping` is set. The last three errors kill the
// process group.
absl::StatusOr<ChildOutput> RunChild(const ChildCommand& command, const std::atomic<bool>& stopping);

}  // namespace taut::server
