// The machine that footprints and savings are counted in.
#pragma once

#include "base/byte_units.h"
#include "model/resource.h"

namespace taut {

struct MachineSize {
  PerResource<double> of = {16, 64 * kGiB};  // cores or bytes; 0: not known
};

}  // namespace taut
