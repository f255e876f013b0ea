// Formats responses of the daemon (src/server/api/openapi.yaml) about all jobs as text for users.
//
// Fits 100 columns. Fields that a response lacks, or that have another type, are shown as "-": the daemon may
// be older or newer.
#pragma once

#include <string>

#include "tools/cli/json_text.h"

namespace taut::tools {

// Formats a page of jobs.
std::string JobsText(const Json& page);
// Formats LabelTotals.
std::string TotalsText(const Json& page);
// Formats the head of `taut top`.
std::string FleetText(const Json& fleet);

}  // namespace taut::tools
