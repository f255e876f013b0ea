#include "tools/programs/webhook_setup.h"

#include <chrono>
#include <random>

#include "common/base/strings.h"
#include "common/net/http_poster.h"
#include "fmt/format.h"
#include "tools/programs/process.h"

namespace taut::tools {

absl::StatusOr<std::unique_ptr<server::WebhookActuator>> OpenWebhook(const server::WebhookConfig& config,
                                                                     std::function<double()> steady_s) {
  const auto error = [](std::string_view key, const absl::Status& status) {
    return absl::Status(status.code(), StrCat(key, ": ", Message(status)));
  };
  const absl::StatusOr<std::string> secret = server::ReadSecretFile(config.secret_file);
  if (!secret.ok()) return error("webhook.secret_file", secret.status());
  absl::StatusOr<std::unique_ptr<HttpPoster>> poster =
      MakeHttpPoster({config.url, config.ca_file, std::chrono::seconds(config.timeout_s)});
  if (!poster.ok()) return error("webhook", poster.status());
  std::random_device random;
  server::WebhookActuator::Options options;
  options.jobs = config.jobs;
  options.sets_limits = config.targets != "replicas";
  options.sets_replicas = config.targets != "limits";
  options.queue.give_up_s = static_cast<double>(config.give_up_after_s);
  options.queue.seed = random();
  options.instance = fmt::format("{:08x}{:08x}", random(), random());
  options.secret = [path = config.secret_file] { return server::ReadSecretFile(path); };
  options.unix_s = [] { return WallNow().seconds(); };
  options.steady_s = std::move(steady_s);
  return std::make_unique<server::WebhookActuator>(std::move(options), *std::move(poster));
}

std::string WebhookWarning(const server::WebhookConfig& config) {
  if (!IsUnprotectedUrl(config.url)) return "";
  return "webhook.url is plain http and its host is not loopback: orders can be read and delayed on the "
         "network; "
         "use https";
}

}  // namespace taut::tools
