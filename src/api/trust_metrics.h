// Metrics of what the daemon's figures rest on: its clock, and that samples outlive it.
#pragma once

#include "api/metrics_text.h"
#include "control/control_plane.h"

namespace taut {

void PutTrustMetrics(const ControlPlane& control, MetricsText& out);

}  // namespace taut
