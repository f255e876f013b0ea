// The daemon's component that serves numbers of replicas to KEDA.
#pragma once

#include <memory>

#include "server/connectors/external_scaler.h"
#include "server/control/component.h"

namespace taut::server {

class ScalerComponent final : public Component {
 public:
  // `context` must outlive the component. REQUIRES: `config` has an address.
  ScalerComponent(ExternalScalerConfig config, const DaemonContext& context)
      : config_(std::move(config)), context_(context) {}

  std::string_view name() const override { return "external_scaler"; }
  // Opens the port. Returns errors of ScalerServer::Start() with the name of the settings' section.
  absl::Status Start() override;
  void Collect(MetricsText& out) const override;
  void Stop() override;

 private:
  const ExternalScalerConfig config_;
  const DaemonContext& context_;
  std::unique_ptr<ScalerServer> server_;
};

}  // namespace taut::server
