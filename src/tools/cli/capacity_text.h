// Formats the capacity of a cell and the sellable amounts for people. Fits 100 columns.
#pragma once

#include <string>

#include "tools/cli/json_text.h"

namespace taut::tools {

// Formats a CapacityPage: current amounts, and the sellable amount of each tier.
std::string CapacityText(const Json& page);
// Formats the lines of a CapacityPage over time.
std::string CapacityLinesText(const Json& page);
// Formats the promises of a CapacityPage, one by one.
std::string CapacityPromisesText(const Json& page);

}  // namespace taut::tools
