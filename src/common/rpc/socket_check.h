// Binds sockets to addresses, with readable errors.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "common/net/server_options.h"

namespace taut {

// Returns a bound, non-blocking TCP socket, which the caller owns. Port 0 selects a free port. Returns Unavailable
// with the address and the system's reason if the address cannot be bound.
absl::StatusOr<int> BindSocket(const ListenAddress& address);

}  // namespace taut
