// The metrics of the gRPC servers that are asked: KEDA's external scaler, and requests for quota.
#pragma once

#include "server/api/metrics_text.h"
#include "server/connectors/external_scaler.h"
#include "server/pool/admission_server.h"

namespace taut::server {

void PutScalerMetrics(const ScalerServerCounts& counts, MetricsText& out);
void PutQuotaPortMetrics(const AdmissionServerCounts& counts, MetricsText& out);

}  // namespace taut::server
