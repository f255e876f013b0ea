// Exports recommendations as values of a Helm chart, for GitOps.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "tools/cli/export_plan.h"
#include "tools/cli/export_text.h"

namespace taut::tools {

// Default path: keys separated by dots. The words in braces are replaced by the values of the job.
inline constexpr std::string_view kValuesPath = "{workload}.{container}.resources";

// Returns InvalidArgument if a key is empty or a word in braces is unknown.
absl::Status CheckValuesPath(std::string_view path);

// Returns a values file with the requests and limits of PlanExport() at each job's path, with comments like those
// of PatchText(). Only comments at the end mention jobs that are not containers, jobs without a recommendation,
// and jobs whose path conflicts with another job's path.
std::string HelmValuesText(std::string_view path, const PatchOptions& options,
                           const std::vector<ExportedJob>& jobs);

}  // namespace taut::tools
