#include "server/connectors/webhook_component.h"

#include <chrono>
#include <random>

#include "common/base/strings.h"
#include "common/net/clocks.h"
#include "common/net/http_poster.h"
#include "fmt/format.h"

namespace taut::server {

absl::StatusOr<std::unique_ptr<WebhookActuator>> OpenWebhook(const WebhookConfig& config,
                                                             std::function<double()> steady_s) {
  const auto error = [](std::string_view key, const absl::Status& status) {
    return absl::Status(status.code(), StrCat(key, ": ", Message(status)));
  };
  const absl::StatusOr<std::string> secret = ReadSecretFile(config.secret_file);
  if (!secret.ok()) return error("webhook.secret_file", secret.status());
  absl::StatusOr<std::unique_ptr<HttpPoster>> poster =
      MakeHttpPoster({config.url, config.ca_file, std::chrono::seconds(config.timeout_s)});
  if (!poster.ok()) return error("webhook", poster.status());
  std::random_device random;
  WebhookActuator::Options options;
  options.jobs = config.jobs;
  options.sets_limits = config.targets != "replicas";
  options.sets_replicas = config.targets != "limits";
  options.queue.give_up_s = static_cast<double>(config.give_up_after_s);
  options.queue.seed = random();
  options.instance = fmt::format("{:08x}{:08x}", random(), random());
  options.secret = [path = config.secret_file] { return ReadSecretFile(path); };
  options.unix_s = [] { return WallNow().seconds(); };
  options.steady_s = std::move(steady_s);
  return std::make_unique<WebhookActuator>(std::move(options), *std::move(poster));
}

std::string WebhookWarning(const WebhookConfig& config) {
  if (!IsUnprotectedUrl(config.url)) return "";
  return "webhook.url is plain http and its host is not loopback: orders can be read and delayed on the "
         "network; "
         "use https";
}

absl::StatusOr<std::unique_ptr<Actuator>> WebhookComponent::MakeActuator() {
  absl::StatusOr<std::unique_ptr<WebhookActuator>> opened = OpenWebhook(config_, SteadySeconds);
  if (!opened.ok()) return opened.status();
  actuator_ = opened->get();
  if (const std::string warning = WebhookWarning(config_); !warning.empty()) context_.log->Warn(warning);
  return *std::move(opened);
}

absl::Status WebhookComponent::Start() {
  actuator_->Start([this](uint64_t decision) {
    // Both bounds are exclusive, so the query finds only this decision.
    DecisionQuery query;
    query.before_id = decision + 1;
    query.after_id = decision - 1;
    const absl::StatusOr<std::vector<Decision>> found =
        history_->Decisions(query, History::Reasons::kLeaveOut);
    // If the store cannot be read, keep the order: its idempotency key makes a second request harmless.
    return !found.ok() || (!found->empty() && found->front().outcome == Outcome::kPending);
  });
  return absl::OkStatus();
}

void WebhookComponent::Stop() {
  if (actuator_ != nullptr) actuator_->Stop();
}

void WebhookComponent::Tick(const LoopTurn& /*turn*/) {
  const std::string error = actuator_->last_error();
  if (error == error_) return;
  error_ = error;
  const uint64_t waiting = actuator_->counts().waiting;
  if (error.empty()) {
    context_.log->Act(LogLevel::kInfo, "webhook_recovered", {{"waiting", waiting}});
  } else {
    context_.log->Act(LogLevel::kWarning, "webhook_failed", {{"error", error}, {"waiting", waiting}});
  }
}

void WebhookComponent::Collect(MetricsText& out) const {
  const WebhookActuatorCounts counts = actuator_->counts();
  constexpr std::string_view kName = "tautd_webhook_requests_total";
  constexpr std::string_view kHelp =
      "Requests to webhook.url by result; no_response: also 429, 503 and responses over 64 KiB.";
  out.Counter(kName, kHelp, counts.applied, {{"result", "applied"}});
  out.Counter(kName, kHelp, counts.refused, {{"result", "refused"}});
  out.Counter(kName, kHelp, counts.retry, {{"result", "retry"}});
  out.Counter(kName, kHelp, counts.no_response, {{"result", "no_response"}});
  out.Counter("tautd_webhook_orders_given_up_total",
              "Orders that failed after webhook.give_up_after, or because too many were waiting.",
              counts.given_up);
  out.Gauge("tautd_webhook_orders_waiting", "Orders not yet delivered.", static_cast<double>(counts.waiting));
  out.Gauge("tautd_webhook_oldest_order_seconds", "Seconds since the oldest waiting order arrived; 0: none.",
            counts.oldest_s);
}

}  // namespace taut::server
