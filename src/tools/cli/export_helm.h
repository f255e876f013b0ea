// Exports recommendations as values of a Helm chart, for GitOps.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "tools/cli/export_plan.h"
#include "tools/cli/export_text.h"

namespace taut::tools {

// Keys separated by dots. {namespace}, {kind}, {workload} and {container} are replaced by the job's values.
inline constexpr std::string_view kValuesPath = "{workload}.{container}.resources";

// Returns InvalidArgument for an empty key, or for an unknown word in braces.
absl::Status CheckValuesPath(std::string_view path);

// Returns a values file with the requests and limits of PlanExport at the path of each job, each with a
// comment as in PatchText. Some jobs only become comments at the end: jobs whose path equals another job's
// path or passes through it, jobs that are not containers, and jobs without a recommendation.
std::string HelmValuesText(std::string_view path, const PatchOptions& options,
                           const std::vector<ExportedJob>& jobs);

}  // namespace taut::tools
