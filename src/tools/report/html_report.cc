#include "tools/report/html_report.h"

#include "tools/report/page.h"
#include "tools/report/report_json.h"

namespace taut::tools {

std::string HtmlReport(const ReportInput& input) { return PageWith(ReportJson(input)); }

}  // namespace taut::tools
