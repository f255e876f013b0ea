// A machine's figures in sentences.
#pragma once

#include <string>

#include "common/model/reason.h"
#include "server/pool/machines_view.h"

namespace taut::server {

// One paragraph of a resource. `reason` of the prediction, whose sentence is its middle.
std::string ExplainMachine(const MachineView& machine, Resource r, const Reason& reason,
                           const MachinesView& view);

}  // namespace taut::server
