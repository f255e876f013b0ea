// Whose clock says what time it is for a live fleet.
#pragma once

#include <cstdint>

namespace taut {

enum class ClockSource : uint8_t {
  kWall,    // now is the wall clock's
  kSamples  // now is the newest sample's: a replayed or sped-up cell
};

}  // namespace taut
