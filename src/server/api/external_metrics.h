// The external recommender in /metrics.
#pragma once

#include "server/api/metrics_text.h"
#include "server/control/control_plane.h"
#include "server/control/external_recommender.h"

namespace taut::server {

void PutExternalMetrics(const ExternalHealth& health, const ControlCounts& counts, MetricsText& out);

}  // namespace taut::server
