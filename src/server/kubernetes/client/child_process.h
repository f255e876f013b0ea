// Runs a program and reads what it prints, without a shell.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace taut::server {

struct ChildCommand {
  std::string path;                      // of the program; PATH is not searched
  std::vector<std::string> arguments;    // without the program's name
  std::vector<std::string> environment;  // "NAME=VALUE", all of it
  size_t max_output_bytes = size_t{1} << 20;
  std::chrono::milliseconds timeout = std::chrono::seconds(60);
};

struct ChildOutput {
  std::string output;  // standard output
  std::string errors;  // the last part of standard error, printable
};

// Runs the program to its end: standard input is empty, no other descriptor is inherited, no signal is blocked or
// ignored, and it leads a process group of its own. What it leaves running may go on. Errors end with the last
// part of standard error, never with output: NotFound (it cannot be started), FailedPrecondition (another exit
// code than 0, or a signal), ResourceExhausted (more output) and DeadlineExceeded (timeout), which kill the group,
// as does Cancelled, soon after `stopping` is set.
absl::StatusOr<ChildOutput> RunChild(const ChildCommand& command, const std::atomic<bool>& stopping);

}  // namespace taut::server
