// Formats responses of the daemon (src/server/api/openapi.yaml) about one job as text for users.
//
// Fits 100 columns. Fields that a response lacks, or that have another type, are shown as "-": the daemon may
// be older or newer.
#pragma once

#include <string>

#include "tools/cli/json_text.h"

namespace taut::tools {

// Formats a job. `decisions` is a DecisionPage with the newest decisions about the job.
std::string JobText(const Json& job, const Json& decisions);
// Formats explanations. `resource` is the name of a resource, or "" for all resources.
std::string ExplanationsText(const Json& explanations, const std::string& job, const std::string& resource);
// Returns two lines: the decision, and the reason for the decision.
std::string DecisionText(const Json& decision);

}  // namespace taut::tools
