// The page with the data put into it.
#include "tools/report/html_report.h"

#include "tools/report/page_parts.h"
#include "tools/report/report_json.h"

namespace taut::tools {

absl::Status CheckReportPage() {
  if (!kPageHead.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "this taut was built without the page of the report, which npm builds: install Node.js 18.13 or later "
      "with npm "
      "and run ./dev build, or use the Debian package");
}

std::string HtmlReport(const ReportInput& input) {
  std::string page(kPageHead);
  page += ReportJson(input);
  page += kPageTail;
  return page;
}

}  // namespace taut::tools
