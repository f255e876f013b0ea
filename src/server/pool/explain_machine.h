// Explains a machine's figures in sentences.
#pragma once

#include <string>

#include "common/model/reason.h"
#include "server/pool/machines_view.h"

namespace taut::server {

// Returns one paragraph about a resource. `reason`: reason of the machine's prediction, which becomes a
// sentence of the paragraph.
std::string ExplainMachine(const MachineView& machine, Resource r, const Reason& reason,
                           const MachinesView& view);

}  // namespace taut::server
