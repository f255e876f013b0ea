// Reports the requests of a Kubernetes cluster's workloads, now and with the recommendations, by labels.
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

// Parses "namespace,team". Returns InvalidArgument without a label, and for an empty or repeated one.
absl::StatusOr<std::vector<std::string>> ParseReportLabels(std::string_view text);

// Returns the report. `jobs` need no explanations. Amounts are sums over the tasks of the jobs with a
// recommendation: `now` as the owner set them, `after` as the export would set them (PlanExport). A container
// without a request requests nothing. A job without a limit, now or after, is in no sum of limits, but in
// `without_limit`. `saving_per_month` is computed with the API's prices, for jobs that have them. Groups are
// ordered by their values; "total" covers all.
Json ExportReport(const ReportOptions& options, const std::vector<ExportedJob>& jobs);
std::string ExportReportText(const Json& report);

}  // namespace taut::tools
