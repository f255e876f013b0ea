// Metrics of what the daemon's figures rest on: its clock, and that samples outlive it.
#pragma once

#include "server/api/metrics_text.h"
#include "server/control/control_plane.h"

namespace taut::server {

void PutTrustMetrics(const ControlPlane& control, MetricsText& out);

}  // namespace taut::server
