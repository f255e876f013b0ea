// Machines as the daemon tells of them, as text of at most 100 columns.
#pragma once

#include <string>

#include "tools/cli/json_text.h"

namespace taut::tools {

// A MachinePage.
std::string MachinesText(const Json& page);
// A MachineDetail.
std::string MachineText(const Json& machine);

}  // namespace taut::tools
