// Formats promised and observed overrun rates of limits as text for users. Fits 100 columns.
#pragma once

#include <string>

#include "brain/fleet/risk_table.h"
#include "tools/cli/json_text.h"

namespace taut::tools {

// Formats a PromisePage.
std::string PromisesText(const Json& page);
// Formats only the tables of totals and of the rows over all days, which do not change with time. Returns ""
// if there are no promises.
std::string ReplayedPromisesText(const Json& page);
// Returns the risk table in the format of a PromisePage.
Json PromisesJson(const brain::RiskTable& table);

}  // namespace taut::tools
