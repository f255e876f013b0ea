#include "server/api/scaler_metrics.h"

namespace taut::server {

void PutScalerMetrics(const ScalerServerCounts& counts, MetricsText& out) {
  const auto requests = [&](std::string_view result, uint64_t count) {
    out.Counter("tautd_external_scaler_requests_total", "Requests of KEDA, by result.", count,
                {{"result", std::string(result)}});
  };
  requests("answered", counts.answered);
  requests("unknown_job", counts.unknown_job);
  requests("no_number", counts.no_number);
  requests("failed", counts.failed);
  out.Gauge("tautd_external_scaler_streams", "Open streams of KEDA.", static_cast<double>(counts.streams));
  out.Counter("tautd_external_scaler_connections_refused_total", "Connections refused over the maximum.",
              counts.rejected_connections);
}

void PutQuotaPortMetrics(const AdmissionServerCounts& counts, MetricsText& out) {
  for (const auto& [result, count] :
       {std::pair{"answered", counts.answered}, {"rejected", counts.rejected}, {"failed", counts.failed}}) {
    out.Counter("tautd_quota_grpc_requests_total", "Requests for quota by gRPC, by result.", count,
                {{"result", result}});
  }
  out.Counter("tautd_quota_grpc_connections_refused_total", "Connections refused over the maximum.",
              counts.rejected_connections);
}

}  // namespace taut::server
