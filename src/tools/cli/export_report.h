// Reports the requests of a Kubernetes cluster's workloads by labels: the current requests, and the requests
// with the recommendations.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/cli/export_plan.h"
#include "tools/cli/export_text.h"

namespace taut::tools {

struct ReportOptions {
  PatchOptions plan;
  std::vector<std::string> by = {"namespace"};  // labels of jobs
};

// Parses "namespace,team". Returns InvalidArgument if the text has no label, or an empty or repeated label.
absl::StatusOr<std::vector<std::string>> ParseReportLabels(std::string_view text);

// Returns the report. `jobs` need no explanations. Amounts are sums over the tasks of the jobs with a
// recommendation: `now` is the owner's amount, `after` the amount that the export would set (PlanExport). A
// container without a request requests nothing. A job that has no limit now or no limit after the export is
// in no sum of limits, but is counted in `without_limit`. `saving_per_month` is computed with the API's
// prices, for jobs with prices. Groups are ordered by their values; "total" covers all groups.
Json ExportReport(const ReportOptions& options, const std::vector<ExportedJob>& jobs);
std::string ExportReportText(const Json& report);

}  // namespace taut::tools
