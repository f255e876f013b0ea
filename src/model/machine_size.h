// The machine that footprints and savings are counted in.
#pragma once

#include "base/byte_units.h"

namespace taut {

struct MachineSize {
  double cores = 16;
  double memory_bytes = 64 * kGiB;
};

}  // namespace taut
