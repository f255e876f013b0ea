// The page of all reports: one self-contained HTML file (no network, no external script or font) that
// contains JSON and draws it.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace taut::tools {

// Returns FailedPrecondition, with instructions, if this program was built without the page. Call it before a
// command's work begins.
absl::Status CheckReportPage();

// Returns the page with `json`, which is a result of ReportJson or DocumentJson. Equal input results in equal
// bytes. REQUIRES: CheckReportPage returns OK.
std::string PageWith(std::string_view json);

}  // namespace taut::tools
