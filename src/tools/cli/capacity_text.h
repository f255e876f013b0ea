// Formats the capacity of a cell and the capacity for sale as text of at most 100 columns.
#pragma once

#include <string>

#include "tools/cli/json_text.h"

namespace taut::tools {

// Formats the current amounts of a CapacityPage, and the capacity for sale in each tier.
std::string CapacityText(const Json& page);
// Formats the lines of a CapacityPage over time.
std::string CapacityLinesText(const Json& page);
// Formats each promise of a CapacityPage.
std::string CapacityPromisesText(const Json& page);

}  // namespace taut::tools
