// Formats machines from the daemon's responses as text of at most 100 columns.
#pragma once

#include <string>

#include "tools/cli/json_text.h"

namespace taut::tools {

// Formats a MachinePage.
std::string MachinesText(const Json& page);
// Formats a MachineDetail.
std::string MachineText(const Json& machine);

}  // namespace taut::tools
