// Reopens a gRPC port with other certificates: gRPC reads certificates only when a server starts.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace taut {

// Returns the contents of the files, concatenated: a different text if any of them changed. An empty name or
// an unreadable file counts as empty.
std::string TextOfFiles(std::initializer_list<const std::string*> names);

using Addresses = std::vector<std::string>;  // addresses such as "127.0.0.1:7071"

struct PortSteps {
  // Starts a server with the new files on these addresses and stops it; returns its error.
  absl::FunctionRef<absl::Status(const Addresses&)> attempt;
  // Stops the running server; its calls end within a bounded time.
  absl::FunctionRef<void()> stop;
  // Starts the new server.
  absl::FunctionRef<absl::Status(const Addresses&)> open;
};

// Attempts a start on free ports, then stops the running server and opens the new server on the same addresses.
// `port` is the actual port of the first address, whose configured port may be 0. If the attempt fails, the
// running server continues. If another process binds the port in between, the port stays closed until the next
// call; the error reports that.
absl::Status ReopenPort(const Addresses& listen, int port, const PortSteps& steps);

}  // namespace taut
