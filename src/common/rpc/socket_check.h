// Binding a socket to an address, and in words why not.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "common/net/server_options.h"

namespace taut {

// A TCP socket that is bound and does not block. Port 0 is any that is free. Unavailable with the system's
// reason.
absl::StatusOr<int> BindSocket(const ListenAddress& address);

}  // namespace taut
