// Formats events of tasks from the daemon's responses as text of at most 100 columns.
#pragma once

#include <cstddef>

#include "tools/cli/json_text.h"

namespace taut::tools {

// Returns the newest `limit` events of both pages, newest first. `acts` is a TierActPage, `ooms` an OomPage.
std::string EventsText(const Json& acts, const Json& ooms, size_t limit);

}  // namespace taut::tools
