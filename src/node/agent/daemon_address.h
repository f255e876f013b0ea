// Checks of the address of tautd in an agent's configuration.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace taut::node {

// Accepts "host:7071", "127.0.0.1:7071" and "[::1]:7071"; InvalidArgument otherwise. Only the form HOST:PORT
// is checked.
absl::Status CheckDaemonAddress(const std::string& address);
// Checks the form and resolves the host, which may block. InvalidArgument if the host has no address.
absl::Status ResolveDaemonAddress(const std::string& address);

}  // namespace taut::node
