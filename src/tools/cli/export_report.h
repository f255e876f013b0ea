// What the workloads of a Kubernetes cluster request, and would request with the recommendations: by labels.
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

// "namespace,team". InvalidArgument: no label, an empty one or one twice.
absl::StatusOr<std::vector<std::string>> ParseReportLabels(std::string_view text);

// `jobs` need no explanations. Amounts are sums over the tasks of the jobs that have a recommendation: `now` as
// the owner has them, `after` as the export would set them (PlanExport). A container without a request requests
// nothing; a job that has no limit, or would have none, is in no sum of limits but in `without_limit`.
// `saving_per_month` is the API's, of jobs where it is known. Groups in order of their values; "total" is of all.
Json ExportReport(const ReportOptions& options, const std::vector<ExportedJob>& jobs);
std::string ExportReportText(const Json& report);

}  // namespace taut::tools
