// Formats responses of the daemon (src/server/api/openapi.yaml) about settings of jobs as text for users.
//
// Fits 100 columns. Fields that a response lacks, or that have another type, are shown as "-": the daemon may
// be older or newer.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/json_text.h"

namespace taut::tools {

// Formats the effect of a change of many jobs' settings, applied or previewed.
std::string ManySettingsText(const Json& done);
// Formats the settings with these keys; all settings if `keys` is empty.
std::string SettingsText(const Json& settings, const std::vector<std::string>& keys);

}  // namespace taut::tools
