// Answers of the daemon (src/server/api/openapi.yaml) about a job as text for people.
// Fits 100 columns. What an answer lacks, or has in another form, is shown as "-": an older or newer daemon is no
// reason to fail.
#pragma once

#include <string>

#include "tools/cli/json_text.h"

namespace taut::tools {

// `decisions`: the last ones of the job, a DecisionPage.
std::string JobText(const Json& job, const Json& decisions);
// `resource`: its name, or "" for all.
std::string ExplanationsText(const Json& explanations, const std::string& job, const std::string& resource);
// Two lines: what, and why.
std::string DecisionText(const Json& decision);

}  // namespace taut::tools
