// The costs that tautd answers (CostPage of src/api/openapi.yaml) as a table of 100 columns.
#pragma once

#include <string>

#include "cli/json_text.h"

namespace taut {

std::string CostsText(const Json& page);

}  // namespace taut
