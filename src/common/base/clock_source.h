// The clock that defines "now" for a live fleet.
#pragma once

#include <cstdint>

namespace taut {

enum class ClockSource : uint8_t {
  kWall,    // the wall clock of this machine
  kSamples  // time of the newest sample, for a replayed or sped-up cell
};

}  // namespace taut
