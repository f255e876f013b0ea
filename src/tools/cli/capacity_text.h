// The capacity of a cell, and what can be sold of it, as text for people. Fits 100 columns.
#pragma once

#include <string>

#include "tools/cli/json_text.h"

namespace taut::tools {

// A CapacityPage: what is there now, and what can be sold of each tier.
std::string CapacityText(const Json& page);
// Its lines over time.
std::string CapacityLinesText(const Json& page);
// Its promises, one by one.
std::string CapacityPromisesText(const Json& page);

}  // namespace taut::tools
