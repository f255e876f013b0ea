// Answers of the daemon (src/server/api/openapi.yaml) about itself and its agents as text for people.
// Fits 100 columns. What an answer lacks, or has in another form, is shown as "-": an older or newer daemon is no
// reason to fail.
#pragma once

#include <cstdint>
#include <string>

#include "tools/cli/json_text.h"

namespace taut::tools {

// An AgentPage.
std::string AgentsText(const Json& page);
std::string StatusText(const Json& status, int64_t now_s);
// Why there are no jobs yet, and when there will be; "" if a window has closed.
std::string NoWindowText(const Json& status);

}  // namespace taut::tools
