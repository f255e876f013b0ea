// The page of all reports: one self-contained HTML file (no network, no external script or font) that draws the
// JSON in it.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace taut::tools {

// FailedPrecondition, with how to get the page, if this program was built without it: ask before the work begins.
absl::Status CheckReportPage();

// Deterministic: the same input gives the same bytes. Needs the page (CheckReportPage). `json`: of ReportJson or
// DocumentJson.
std::string PageWith(std::string_view json);

}  // namespace taut::tools
