// The reference machine in which footprints and savings are counted.
#pragma once

#include "common/base/byte_units.h"
#include "common/model/resource.h"

namespace taut {

struct MachineSize {
  PerResource<double> of = {16, 64 * kGiB};  // cores or bytes; 0: unknown
};

}  // namespace taut
