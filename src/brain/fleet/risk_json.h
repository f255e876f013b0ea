// What was promised and what came as JSON, for the API and for a replay (src/server/api/openapi.yaml,
// PromisePage).
#pragma once

#include "brain/fleet/risk_table.h"
#include "common/base/json_writer.h"

namespace taut::brain {

// The fields half_life_days, broken (sentences), totals and rows, without the braces.
void PutRisks(const RiskTable& table, JsonWriter& json);

}  // namespace taut::brain
