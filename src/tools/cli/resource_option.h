// Parses --resource, which selects the resources of a command.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/model/resource.h"

namespace taut::tools {

// Returns the named resources without duplicates, or all resources if `names` is empty. Returns InvalidArgument
// for an unknown name.
absl::StatusOr<std::vector<Resource>> ToResources(const std::vector<std::string>& names);

}  // namespace taut::tools
