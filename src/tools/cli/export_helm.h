// Recommendations as values of a Helm chart, for GitOps.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "tools/cli/export_plan.h"
#include "tools/cli/export_text.h"

namespace taut::tools {

// Keys between dots; {namespace}, {kind}, {workload} and {container} stand for those of the job.
inline constexpr std::string_view kValuesPath = "{workload}.{container}.resources";

// InvalidArgument: an empty key, or another word in braces.
absl::Status CheckValuesPath(std::string_view path);

// A values file: at the path of each job its requests and limits as PlanExport has them, with a comment as in
// PatchText. Jobs whose path is that of another job, or passes through it, and those that are no containers or
// have no recommendation stand as comments at the end.
std::string HelmValuesText(std::string_view path, const PatchOptions& options,
                           const std::vector<ExportedJob>& jobs);

}  // namespace taut::tools
