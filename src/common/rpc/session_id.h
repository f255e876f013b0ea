// The number of a stream between an agent and the daemon.
#pragma once

#include <cstdint>

namespace taut {

using SessionId = uint64_t;  // ascending from 1, one per stream

}  // namespace taut
