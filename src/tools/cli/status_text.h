// Formats the daemon's responses about tautd and its agents (src/server/api/openapi.yaml) as text of at most 100
// columns.
//
// The daemon may have another version, so a field that is missing or has an unexpected type results in "-".
#pragma once

#include <cstdint>
#include <string>

#include "tools/cli/json_text.h"

namespace taut::tools {

// Formats an AgentPage.
std::string AgentsText(const Json& page);
std::string StatusText(const Json& status, int64_t now_s);
// Returns the reason why tautd has no jobs, and when the first jobs will appear; "" if a window has closed.
std::string NoWindowText(const Json& status);

}  // namespace taut::tools
