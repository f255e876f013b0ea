// The daemon's component for the webhook, which sends orders to the owner's HTTP endpoint.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/connectors/webhook_actuator.h"
#include "server/control/component.h"

namespace taut::server {

// Creates the actuator of the webhook. Returns InvalidArgument or NotFound with the setting's key if the URL, the
// secret or the CA file is unusable. REQUIRES: config.url is not empty.
absl::StatusOr<std::unique_ptr<WebhookActuator>> OpenWebhook(const WebhookConfig& config,
                                                             std::function<double()> steady_s);
// Returns a warning about insecure settings; "" if there are none.
std::string WebhookWarning(const WebhookConfig& config);

class WebhookComponent final : public Component {
 public:
  // `history` and `context` must outlive the component. REQUIRES: `config` has a URL.
  WebhookComponent(WebhookConfig config, History* history, const DaemonContext& context)
      : config_(std::move(config)), history_(history), context_(context) {}

  std::string_view name() const override { return "webhook"; }
  // Returns the actuator, or errors of OpenWebhook().
  absl::StatusOr<std::unique_ptr<Actuator>> MakeActuator() override;
  // Returns true if the webhook sets the memory limit of this job. Call after MakeActuator().
  bool ClaimsMemory(const std::string& job) const {
    return actuator_->Claims({.job = job, .target = Resource::kMemory});
  }
  // Starts sending. Called after the restore, which loads the waiting orders and the decisions without an outcome.
  absl::Status Start() override;
  // Logs when requests start to fail, and when they succeed again.
  void Tick(const LoopTurn& turn) override;
  void Collect(MetricsText& out) const override;
  // Stops sending before the last pass, which stores the outcome of the last request.
  void Stop() override;

 private:
  const WebhookConfig config_;
  History* const history_;
  const DaemonContext& context_;
  WebhookActuator* actuator_ = nullptr;  // actuator, which the control plane owns
  std::string error_;                    // last logged error
};

}  // namespace taut::server
