// Joins the jobs of a workload's groups of pods, for outputs that can have only one value per workload.
#pragma once

#include <string_view>
#include <vector>

#include "tools/cli/export_text.h"

namespace taut::tools {

// Joins jobs such as "shop/statefulset/db@0/app", "shop/statefulset/db@1/app" and "shop/statefulset/db/app"
// to one job with the last of these names, at the position of the first, with the largest recommendation of
// each resource. Other jobs are unchanged. A job of the whole workload that was last seen more than an hour
// before the newest of its groups is ignored: tautd keeps it for weeks after the workload was split.
std::vector<ExportedJob> JoinGroups(const std::vector<ExportedJob>& jobs);
// Returns the job's name without the name of the group.
std::string WithoutGroup(std::string_view job);

}  // namespace taut::tools
