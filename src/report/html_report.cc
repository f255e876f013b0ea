// The page with the data put into it.
#include "report/html_report.h"

#include "report/page_parts.h"
#include "report/report_json.h"

namespace taut {

std::string HtmlReport(const ReportInput& input) {
  std::string page(kPageHead);
  page += ReportJson(input);
  page += kPageTail;
  return page;
}

}  // namespace taut
