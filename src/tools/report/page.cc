#include "tools/report/page.h"

#include "common/base/strings.h"
#include "tools/report/page_parts.h"

namespace taut::tools {

absl::Status CheckReportPage() {
  if (!kPageHead.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "this taut was built without the page of the report, which npm builds: install Node.js 18.13 or later "
      "with npm and run ./dev build, or use the Debian package");
}

std::string PageWith(std::string_view json) { return StrCat(kPageHead, json, kPageTail); }

}  // namespace taut::tools
