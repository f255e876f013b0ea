// Settings of connections to other programs: webhook, KEDA, recommendation service, notifications.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace taut::server {

// The owner's endpoint that applies limits (src/server/connectors/webhook_actuator.h).
struct WebhookConfig {
  std::string url;  // URL of the endpoint; "": disabled
  std::string secret_file, ca_file;
  std::string jobs;             // pattern of job names (src/common/base/pattern.h); "": all jobs
  std::string targets = "all";  // targets that the endpoint applies: all, limits or replicas
  int64_t timeout_s = 10, give_up_after_s = 3600;
};

// Listener for KEDA (src/server/connectors/external_scaler.h).
struct ExternalScalerConfig {
  std::vector<std::string> listen;  // listen addresses; empty: disabled
  std::string certificate_file, key_file, client_ca_file;
};

// The owner's recommendation service (src/server/connectors/external_recommender.h).
struct ExternalRecommenderConfig {
  std::string address;  // address of the service, HOST:PORT; "": disabled
  int64_t deadline_s = 10, hold_s = 1800;
  double max_step = 10;  // largest step of an answer, as a factor (ExternalBounds::max_step)
  std::string ca_file, certificate_file, key_file;
};

// Notifications that tautd sends to a webhook.
struct NotifyConfig {
  std::string url;  // URL of the webhook; "": disabled
  std::vector<std::string> events = {"limit_lowered",      "limit_rolled_back", "oom_kill",
                                     "agent_disconnected", "store_not_ready",   "store_ready",
                                     "replicas_step_back", "budget_share",      "budget_forecast"};
  std::string secret_file, ca_file;
};

}  // namespace taut::server
