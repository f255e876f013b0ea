// What was promised of limits and what came, as text for people. Fits 100 columns.
#pragma once

#include <string>

#include "brain/fleet/risk_table.h"
#include "tools/cli/json_text.h"

namespace taut::tools {

// A PromisePage.
std::string PromisesText(const Json& page);
// The same without what changes with time: the tables of totals and rows over all days. "" if nothing is promised.
std::string ReplayedPromisesText(const Json& page);
// As in a PromisePage.
Json PromisesJson(const brain::RiskTable& table);

}  // namespace taut::tools
