// Answers of the daemon (src/server/api/openapi.yaml) about all jobs together as text for people.
// Fits 100 columns. What an answer lacks, or has in another form, is shown as "-": an older or newer daemon is no
// reason to fail.
#pragma once

#include <string>

#include "tools/cli/json_text.h"

namespace taut::tools {

// A page of jobs.
std::string JobsText(const Json& page);
// LabelTotals.
std::string TotalsText(const Json& page);
// The head of `taut top`.
std::string FleetText(const Json& fleet);

}  // namespace taut::tools
