// The address of tautd, as an agent is given it.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace taut::node {

// "host:7071", "127.0.0.1:7071", "[::1]:7071". InvalidArgument for anything else.
absl::Status CheckDaemonAddress(const std::string& address);
// The same, and asks the resolver for the host. InvalidArgument if it has no address.
absl::Status ResolveDaemonAddress(const std::string& address);

}  // namespace taut::node
