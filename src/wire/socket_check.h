// Whether an address is free, and in words why not.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "net/server_options.h"

namespace taut {

// Binds and lets go. Port 0 is always free. Unavailable with the system's reason.
absl::Status CheckFree(const ListenAddress& address);
// "127.0.0.1:80", "[::1]:80".
std::string FormatAddress(const ListenAddress& address);

}  // namespace taut
