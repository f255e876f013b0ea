#include "server/connectors/scaler_component.h"

#include <string>

#include "common/base/strings.h"
#include "server/control/ordered_replicas.h"

namespace taut::server {

absl::Status ScalerComponent::Start() {
  ScalerServerOptions options;
  options.listen = config_.listen;
  options.certificate_file = config_.certificate_file;
  options.key_file = config_.key_file;
  options.client_ca_file = config_.client_ca_file;
  absl::StatusOr<std::unique_ptr<ScalerServer>> server = ScalerServer::Start(
      options, [this](const std::string& job) { return OrderedReplicas(*context_.control, job); });
  if (!server.ok()) {
    return absl::Status(server.status().code(), StrCat("external_scaler: ", Message(server.status())));
  }
  server_ = *std::move(server);
  context_.log->Info(StrCat("listening for KEDA on port ", server_->port()));
  return absl::OkStatus();
}

void ScalerComponent::Stop() {
  if (server_ != nullptr) server_->Stop();
}

void ScalerComponent::Collect(MetricsText& out) const {
  const ScalerServerCounts counts = server_->counts();
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

}  // namespace taut::server
