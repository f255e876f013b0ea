// Answers of the daemon (src/server/api/openapi.yaml) as text for people. Fits 100 columns. What an answer lacks,
// or
// has in another form, is shown as "-": an older or newer daemon is no reason to fail.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/cli/json_text.h"

namespace taut::tools {

std::string JobsText(const Json& page);
// LabelTotals.
std::string TotalsText(const Json& page);
// `decisions`: the last ones of the job, a DecisionPage.
std::string JobText(const Json& job, const Json& decisions);
// `resource`: its name, or "" for all.
std::string ExplanationsText(const Json& explanations, const std::string& job, const std::string& resource);
// Two lines: what, and why.
std::string DecisionText(const Json& decision);
// An AgentPage.
std::string AgentsText(const Json& page);
std::string StatusText(const Json& status, int64_t now_s);
// Why there are no jobs yet, and when there will be; "" if a window has closed.
std::string NoWindowText(const Json& status);
// The head of `taut top`.
// What a change of many jobs does, or would do.
std::string ManySettingsText(const Json& done);
std::string FleetText(const Json& fleet);
// The settings with these keys; all if there are none.
std::string SettingsText(const Json& settings, const std::vector<std::string>& keys);

}  // namespace taut::tools
