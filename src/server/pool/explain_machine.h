// Explains the figures of a machine in sentences.
#pragma once

#include <string>

#include "common/model/reason.h"
#include "server/pool/machines_view.h"

namespace taut::server {

// Returns a paragraph about a resource. `reason` explains the machine's prediction, and becomes a sentence of the
// paragraph.
std::string ExplainMachine(const MachineView& machine, Resource r, const Reason& reason,
                           const MachinesView& view);

}  // namespace taut::server
