// Promised and delivered risk as JSON, for the API and for replays (PromisePage in
// src/server/api/openapi.yaml).
#pragma once

#include "brain/fleet/risk_table.h"
#include "common/base/json_writer.h"

namespace taut::brain {

// Writes the fields half_life_days, broken (sentences), totals and rows, without the braces.
void PutRisks(const RiskTable& table, JsonWriter& json);

}  // namespace taut::brain
