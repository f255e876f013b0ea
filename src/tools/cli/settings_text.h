// Answers of the daemon (src/server/api/openapi.yaml) about settings of jobs as text for people.
// Fits 100 columns. What an answer lacks, or has in another form, is shown as "-": an older or newer daemon is no
// reason to fail.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/json_text.h"

namespace taut::tools {

// What a change of many jobs does, or would do.
std::string ManySettingsText(const Json& done);
// The settings with these keys; all if there are none.
std::string SettingsText(const Json& settings, const std::vector<std::string>& keys);

}  // namespace taut::tools
