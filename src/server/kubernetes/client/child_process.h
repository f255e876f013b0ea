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
  std::string path;                      // path of the program; PATH is not searched
  std::vector<std::string> arguments;    // arguments without the program's name
  std::vector<std::string> environment;  // the complete environment, as "NAME=VALUE"
  size_t max_output_bytes = size_t{1} << 20;
  std::chrono::milliseconds timeout = std::chrono::seconds(60);
};

struct ChildOutput {
  std::string output;  // standard output
  std::string errors;  // last bytes of standard error, printable
};

// Runs the program until it ends. The program has empty standard input, no other inherited descriptor, no blocked
// or ignored signal, and a process group of its own. Processes that the program leaves behind may continue.
// Returns NotFound if the program cannot be started, and FailedPrecondition for an exit code other than 0 or a
// signal. Kills the process group and returns ResourceExhausted for too much output, DeadlineExceeded after the
// timeout, or Cancelled after `stopping` is set. Errors end with the last bytes of standard error, and never
// contain output.
absl::StatusOr<ChildOutput> RunChild(const ChildCommand& command, const std::atomic<bool>& stopping);

}  // namespace taut::server
