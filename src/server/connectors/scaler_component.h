// Where KEDA asks the daemon for numbers of replicas.
#pragma once

#include <memory>

#include "server/connectors/external_scaler.h"
#include "server/control/component.h"

namespace taut::server {

class ScalerComponent final : public Component {
 public:
  // `config`: with an address. `context` outlives it.
  ScalerComponent(ExternalScalerConfig config, const DaemonContext& context)
      : config_(std::move(config)), context_(context) {}

  std::string_view name() const override { return "external_scaler"; }
  // Errors as ScalerServer, with the section's name.
  absl::Status Start() override;
  void Collect(MetricsText& out) const override;
  void Stop() override;

 private:
  const ExternalScalerConfig config_;
  const DaemonContext& context_;
  std::unique_ptr<ScalerServer> server_;
};

}  // namespace taut::server
