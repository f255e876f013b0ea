// The page of all reports: one self-contained HTML file (no network, no external script or font) with the report's
// JSON and a script that draws the JSON.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace taut::tools {

// Returns FailedPrecondition with instructions if this program was built without the page. Commands call this
// function before their work begins.
absl::Status CheckReportPage();

// Returns the page with `json`, a result of ReportJson() or DocumentJson(). Equal input results in equal bytes.
// REQUIRES: CheckReportPage() returns OK.
std::string PageWith(std::string_view json);

}  // namespace taut::tools
