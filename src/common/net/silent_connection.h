// Which connection makes room when a port is full: the rule of every port.
#pragma once

#include <cstddef>
#include <cstdint>

namespace taut {

// One that has shown neither a token, nor a certificate, nor made a call that is answered.
struct SilentConnection {
  size_t of_address = 0;  // connections from its address
  int64_t since = 0;      // when it was accepted, or began to wait
};

// Whether `a` is closed before `b`: the one of the address with the most connections, then the oldest.
inline bool GoesBefore(const SilentConnection& a, const SilentConnection& b) {
  return a.of_address != b.of_address ? a.of_address > b.of_address : a.since < b.since;
}

}  // namespace taut
