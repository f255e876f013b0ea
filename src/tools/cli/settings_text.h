// Formats the daemon's responses about settings of jobs (src/server/api/openapi.yaml) as text of at most 100
// columns.
//
// The daemon may have another version, so a field that is missing or has an unexpected type results in "-".
#pragma once

#include <string>
#include <vector>

#include "tools/cli/json_text.h"

namespace taut::tools {

// Formats the effect of a change to the settings of many jobs, which was applied or previewed.
std::string ManySettingsText(const Json& done);
// Formats the settings named in `keys`; all settings if `keys` is empty.
std::string SettingsText(const Json& settings, const std::vector<std::string>& keys);

}  // namespace taut::tools
