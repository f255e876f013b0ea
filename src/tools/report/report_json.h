// Writes the data of a replay's report as one JSON document, which web/app/src/report draws.
#pragma once

#include <string>

#include "tools/report/html_report.h"

namespace taut::tools {

// Returns the document. Memory is in GiB and CPU in cores, except in the texts of reasons. Numbers have at least
// five significant digits, more than a screen can show. Equal input results in equal JSON. Only this room and
// web/app/src/report depend on the format.
std::string ReportJson(const ReportInput& input);

// Maximum number of columns of a story. A story is about 1,000 pixels wide, so more columns would not be visible
// and are merged.
inline constexpr size_t kMaxStoryColumns = 1500;

}  // namespace taut::tools
