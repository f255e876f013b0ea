// Formats the daemon's responses about one job (src/server/api/openapi.yaml) as text of at most 100 columns.
//
// The daemon may have another version, so a field that is missing or has an unexpected type results in "-".
#pragma once

#include <string>

#include "tools/cli/json_text.h"

namespace taut::tools {

// Formats a JobDetail. `decisions` is a DecisionPage with the newest decisions about the job.
std::string JobText(const Json& job, const Json& decisions);
// Formats Explanations. `resource` is the name of a resource, or "" for all resources.
std::string ExplanationsText(const Json& explanations, const std::string& job, const std::string& resource);
// Returns two lines: the decision and its reason.
std::string DecisionText(const Json& decision);

}  // namespace taut::tools
