// Jobs of one workload's container that are groups of its pods, for what can only be one for all of them.
#pragma once

#include <string_view>
#include <vector>

#include "tools/cli/export_text.h"

namespace taut::tools {

// Of several "shop/statefulset/db@0/app", "shop/statefulset/db@1/app" and "shop/statefulset/db/app" one job of the
// last name, in the place of the first, with the largest recommendation of each resource; others as they are. A
// job without a group that was last seen an hour before the others does not count.
std::vector<ExportedJob> JoinGroups(const std::vector<ExportedJob>& jobs);
// The job's name without a group.
std::string WithoutGroup(std::string_view job);

}  // namespace taut::tools
