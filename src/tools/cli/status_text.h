// Formats responses of the daemon (src/server/api/openapi.yaml) about tautd and its agents as text for users.
//
// Fits 100 columns. Fields that a response lacks, or that have another type, are shown as "-": the daemon may
// be older or newer.
#pragma once

#include <cstdint>
#include <string>

#include "tools/cli/json_text.h"

namespace taut::tools {

// Formats an AgentPage.
std::string AgentsText(const Json& page);
std::string StatusText(const Json& status, int64_t now_s);
// Returns the reason why tautd has no jobs yet, and the time of the first jobs; "" if a window has closed.
std::string NoWindowText(const Json& status);

}  // namespace taut::tools
