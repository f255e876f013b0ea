// --resource: which resources a command is for.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/model/resource.h"

namespace taut::tools {

// In the order of `names`, each once; all of none. InvalidArgument for an unknown name.
absl::StatusOr<std::vector<Resource>> ToResources(const std::vector<std::string>& names);

}  // namespace taut::tools
