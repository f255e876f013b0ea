// The data of the report as one JSON document: what web/app/src/tools/report draws.
#pragma once

#include <string>

#include "tools/report/html_report.h"

namespace taut::tools {

// Memory is in GiB and CPU in cores, except in reasons, which keep their own units. Numbers are rounded to
// five significant digits or better than a screen shows. Deterministic. The form is private to this folder
// and web/app/src/tools/report.
std::string ReportJson(const ReportInput& input);

// A story is drawn about 1,000 pixels wide; finer columns are added up to at most this many.
inline constexpr size_t kMaxStoryColumns = 1500;

}  // namespace taut::tools
