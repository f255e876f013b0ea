// What happened to tasks, as the daemon tells of it, as text of at most 100 columns.
#pragma once

#include <cstddef>

#include "tools/cli/json_text.h"

namespace taut::tools {

// `acts`: a TierActPage, `ooms`: an OomPage. The newest `limit` of both, the newest first.
std::string EventsText(const Json& acts, const Json& ooms, size_t limit);

}  // namespace taut::tools
