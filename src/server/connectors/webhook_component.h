// The daemon's webhook: orders go to the owner's endpoint.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/connectors/webhook_actuator.h"
#include "server/control/component.h"

namespace taut::server {

// REQUIRES: config.url is not empty. InvalidArgument or NotFound: a URL, a secret or a CA file that cannot be
// used, with the key of the setting.
absl::StatusOr<std::unique_ptr<WebhookActuator>> OpenWebhook(const WebhookConfig& config,
                                                             std::function<double()> steady_s);
// What is unsafe about its settings; "" for nothing.
std::string WebhookWarning(const WebhookConfig& config);

class WebhookComponent final : public Component {
 public:
  // `config`: with a URL. `history` and `context` outlive it.
  WebhookComponent(WebhookConfig config, History* history, const DaemonContext& context)
      : config_(std::move(config)), history_(history), context_(context) {}

  std::string_view name() const override { return "webhook"; }
  // Errors as OpenWebhook.
  absl::StatusOr<std::unique_ptr<Actuator>> MakeActuator() override;
  // Whether orders for this memory limit go there. After MakeActuator.
  bool ClaimsMemory(const std::string& job) const {
    return actuator_->Claims({.job = job, .target = Resource::kMemory});
  }
  // The restore has loaded the orders that were waiting, and added the decisions without an outcome.
  absl::Status Start() override;
  // Logs when requests begin to fail, and when they succeed again.
  void Tick(const LoopTurn& turn) override;
  void Collect(MetricsText& out) const override;
  // The outcome of its last request is stored with the last pass.
  void Stop() override;

 private:
  const WebhookConfig config_;
  History* const history_;
  const DaemonContext& context_;
  WebhookActuator* actuator_ = nullptr;  // the control plane's
  std::string error_;                    // that was logged last
};

}  // namespace taut::server
