// Selects the connection that is closed when a port is full. All ports use the same rule.
#pragma once

#include <cstddef>
#include <cstdint>

namespace taut {

// A connection without a valid token, certificate or answered call.
struct SilentConnection {
  size_t of_address = 0;  // number of connections from its address
  int64_t since = 0;      // time when the connection was accepted or began to wait; any unit
};

// Returns true if `a` is closed before `b`: first the address with the most connections, then the oldest.
inline bool GoesBefore(const SilentConnection& a, const SilentConnection& b) {
  return a.of_address != b.of_address ? a.of_address > b.of_address : a.since < b.since;
}

}  // namespace taut
