// Reports requests of a Kubernetes cluster's workloads, grouped by labels: current requests, and requests after
// the recommendations.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/cli/export_plan.h"
#include "tools/cli/export_text.h"

namespace taut::tools {

struct ReportOptions {
  PatchOptions plan;
  std::vector<std::string> by = {"namespace"};  // labels of the jobs by which the report groups
};

// Parses a list such as "namespace,team". Returns InvalidArgument for an empty list, and for an empty or repeated
// label.
absl::StatusOr<std::vector<std::string>> ParseReportLabels(std::string_view text);

// Returns the report. The explanations of `jobs` are not read. Amounts are sums over all tasks of the jobs with a
// recommendation: `now` is the owner's amount, `after` the amount after the export (PlanExport). Containers
// without a request add nothing to the requests. Jobs without a limit before or after the export are counted in
// `without_limit` instead of the limits. `saving_per_month` uses the API's prices and covers jobs with prices.
// Groups are ordered by their values; "total" covers all groups.
Json ExportReport(const ReportOptions& options, const std::vector<ExportedJob>& jobs);
std::string ExportReportText(const Json& report);

}  // namespace taut::tools
