// The number of a stream between agent and daemon.
#pragma once

#include <cstdint>

namespace taut {

using SessionId = uint64_t;  // ascending from 1, one a stream

}  // namespace taut
