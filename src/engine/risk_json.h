// What was promised and what came as JSON, for the API and for a replay (src/api/openapi.yaml, PromisePage).
#pragma once

#include "base/json_writer.h"
#include "engine/risk_book.h"

namespace taut {

// The fields half_life_days, broken (sentences), totals and rows, without the braces.
void PutRisks(const RiskBook& book, JsonWriter& json);

}  // namespace taut
