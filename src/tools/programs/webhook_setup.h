// tautd's webhook from its settings.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/config/daemon_config.h"
#include "server/connectors/webhook_actuator.h"

namespace taut::tools {

// REQUIRES: config.url is not empty. InvalidArgument or NotFound: a URL, a secret or a CA file that cannot be
// used, with the key of the setting.
absl::StatusOr<std::unique_ptr<server::WebhookActuator>> OpenWebhook(const server::WebhookConfig& config,
                                                                     std::function<double()> steady_s);
// What is unsafe about its settings; "" for nothing.
std::string WebhookWarning(const server::WebhookConfig& config);

}  // namespace taut::tools
