// Formats a CostPage of the API (src/server/api/openapi.yaml) as a table of 100 columns.
#pragma once

#include <string>

#include "tools/cli/json_text.h"

namespace taut::tools {

std::string CostsText(const Json& page);

}  // namespace taut::tools
