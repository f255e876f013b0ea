// Settings of what tautd asks and tells others: webhook, KEDA, recommender, notifications.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace taut::server {

// The owner's endpoint that applies limits (src/server/connectors/webhook_actuator.h).
struct WebhookConfig {
  std::string url;  // "": none
  std::string secret_file, ca_file;
  std::string jobs;             // a pattern of names (src/common/base/pattern.h); "": every job
  std::string targets = "all";  // or limits, replicas
  int64_t timeout_s = 10, give_up_after_s = 3600;
};

// Where KEDA comes to (src/server/connectors/external_scaler.h).
struct ExternalScalerConfig {
  std::vector<std::string> listen;  // empty: off
  std::string certificate_file, key_file, client_ca_file;
};

// The owner's service that recommends (src/server/connectors/external_recommender.h).
struct ExternalRecommenderConfig {
  std::string address;  // HOST:PORT; "": none
  int64_t deadline_s = 10, hold_s = 1800;
  double max_step = 10;  // as ExternalBounds
  std::string ca_file, certificate_file, key_file;
};

// Notifications by webhook.
struct NotifyConfig {
  std::string url;  // "": none
  std::vector<std::string> events = {"limit_lowered",      "limit_rolled_back", "oom_kill",
                                     "agent_disconnected", "store_not_ready",   "store_ready",
                                     "replicas_step_back", "budget_share",      "budget_forecast"};
  std::string secret_file, ca_file;
};

}  // namespace taut::server
