// The machine that footprints and savings are counted in.
#pragma once

namespace taut {

struct MachineSize {
  double cores = 16;
  double memory_bytes = 64.0 * 1024 * 1024 * 1024;
};

}  // namespace taut
