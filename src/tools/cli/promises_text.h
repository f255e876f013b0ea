// Formats promised and observed rates of usage above the limit as text of at most 100 columns.
#pragma once

#include <string>

#include "brain/fleet/risk_table.h"
#include "tools/cli/json_text.h"

namespace taut::tools {

// Formats a PromisePage.
std::string PromisesText(const Json& page);
// Formats the tables of totals and of all days, which do not depend on the current time. Returns "" if there are
// no promises.
std::string ReplayedPromisesText(const Json& page);
// Converts the risk table to a PromisePage.
Json PromisesJson(const brain::RiskTable& table);

}  // namespace taut::tools
