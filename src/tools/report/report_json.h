// Writes the data of the replay's report as one JSON document, which web/app/src/report draws.
#pragma once

#include <string>

#include "tools/report/html_report.h"

namespace taut::tools {

// Returns the document. Memory is in GiB and CPU in cores, except in reasons, which keep their own units.
// Numbers have five or more significant digits, which is more than a screen shows. Deterministic. Only this
// folder and web/app/src/report know the format.
std::string ReportJson(const ReportInput& input);

// Largest number of columns of a story. A story is drawn about 1,000 pixels wide, so finer columns are
// merged.
inline constexpr size_t kMaxStoryColumns = 1500;

}  // namespace taut::tools
