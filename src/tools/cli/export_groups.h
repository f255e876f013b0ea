// Joins the jobs of a workload whose pods are split into groups, for formats with only one value per workload.
#pragma once

#include <vector>

#include "tools/cli/export_text.h"

namespace taut::tools {

// Joins jobs such as "shop/statefulset/db@0/app", "shop/statefulset/db@1/app" and "shop/statefulset/db/app" to one
// job "shop/statefulset/db/app" with the largest recommendation of each resource. The result is at the position of
// the first joined job. Other jobs are unchanged. The job of the whole workload is ignored if its groups have
// usage that is an hour newer. tautd keeps such a job for weeks after the workload was split.
std::vector<ExportedJob> JoinGroups(const std::vector<ExportedJob>& jobs);

}  // namespace taut::tools
