// The external recommender in /metrics.
#pragma once

#include "api/metrics_text.h"
#include "control/control_plane.h"
#include "ports/external_recommender.h"

namespace taut {

void PutExternalMetrics(const ExternalHealth& health, const ControlCounts& counts, MetricsText& out);

}  // namespace taut
