// Formats the daemon's responses about all jobs (src/server/api/openapi.yaml) as text of at most 100 columns.
//
// The daemon may have another version, so a field that is missing or has an unexpected type results in "-".
#pragma once

#include <string>

#include "tools/cli/json_text.h"

namespace taut::tools {

// Formats a JobPage.
std::string JobsText(const Json& page);
// Formats LabelTotals.
std::string TotalsText(const Json& page);
// Formats the summary of the fleet at the top of `taut top`.
std::string FleetText(const Json& fleet);

}  // namespace taut::tools
