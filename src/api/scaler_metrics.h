// The metrics of the gRPC servers that are asked: KEDA's external scaler, and requests for quota.
#pragma once

#include "api/metrics_text.h"
#include "wire/admission_server.h"
#include "wire/external_scaler.h"

namespace taut {

void PutScalerMetrics(const ScalerServerCounts& counts, MetricsText& out);
void PutQuotaPortMetrics(const AdmissionServerCounts& counts, MetricsText& out);

}  // namespace taut
