// Joins the jobs of a workload's groups of pods, for outputs that can have only one value for all of them.
#pragma once

#include <string_view>
#include <vector>

#include "tools/cli/export_text.h"

namespace taut::tools {

// Joins jobs such as "shop/statefulset/db@0/app", "shop/statefulset/db@1/app" and "shop/statefulset/db/app" to
// one job with the last name, in the place of the first, with the largest recommendation of each resource.
// Other jobs are unchanged. A job without a group that was last seen more than an hour before the others is
// ignored: it stays known for weeks after the workload was split.
std::vector<ExportedJob> JoinGroups(const std::vector<ExportedJob>& jobs);
// Returns the job's name without the group.
std::string WithoutGroup(std::string_view job);

}  // namespace taut::tools
