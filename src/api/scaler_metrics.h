// The metrics of the external scaler that KEDA asks.
#pragma once

#include "api/metrics_text.h"
#include "wire/external_scaler.h"

namespace taut {

void PutScalerMetrics(const ScalerServerCounts& counts, MetricsText& out);

}  // namespace taut
