// A machine's figures in sentences.
#pragma once

#include <string>

#include "machines/machines_view.h"
#include "model/reason.h"

namespace taut {

// One paragraph of a resource. `reason` of the prediction, whose sentence is its middle.
std::string ExplainMachine(const MachineView& machine, Resource r, const Reason& reason,
                           const MachinesView& view);

}  // namespace taut
