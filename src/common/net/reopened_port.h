// How a port for gRPC is opened again with other files: gRPC reads certificates only when a server starts.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace taut {

// What is in these files, one after the other, nothing for a name that is empty or a file that cannot be
// read: another text if any of them has changed.
std::string TextOfFiles(std::initializer_list<const std::string*> names);

using Addresses = std::vector<std::string>;  // "127.0.0.1:7071"

struct PortSteps {
  // Whether a server would start there with the new files: starts it and stops it.
  absl::FunctionRef<absl::Status(const Addresses&)> attempt;
  // Ends the server that runs; its calls end within a bounded time.
  absl::FunctionRef<void()> stop;
  absl::FunctionRef<absl::Status(const Addresses&)> open;
};

// Attempts a start on free ports of the addresses, then stops the server that runs and opens the new one on
// the same addresses; the first has `port`, which it may have got when its own was 0. If the attempt fails,
// its error is returned and the server goes on. If another process takes the port between the two, it is
// closed until the next try, and the error says so.
absl::Status ReopenPort(const Addresses& listen, int port, const PortSteps& steps);

}  // namespace taut
