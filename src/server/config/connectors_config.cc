#include "server/config/connectors_config.h"

#include <algorithm>

#include "common/base/byte_units.h"
#include "common/base/strings.h"
#include "server/config/daemon_section.h"

namespace taut::server {
namespace {

using enum FieldUnit;

const DaemonSetting kWebhookRows[] = {
    {"webhook.url",
     "URL of your own endpoint, to which the orders for webhook.jobs are sent by POST; empty: none", kUrl, 0,
     0, TAUT_DAEMON_FIELD(webhook.url)},
    {"webhook.secret_file",
     "file with the key of the HMAC-SHA256 in Tautline-Signature; required with webhook.url; read again when "
     "it changes",
     kPlain, 0, 0, TAUT_DAEMON_FIELD(webhook.secret_file)},
    {"webhook.jobs",
     "names of the jobs whose orders go to the webhook and not to agents: '*' stands for any text, '|' "
     "separates alternatives; empty: every job",
     kPlain, 0, 0, TAUT_DAEMON_FIELD(webhook.jobs)},
    {"webhook.targets", "orders of these jobs that go to the webhook: limits, replicas or all", kPlain, 0, 0,
     TAUT_DAEMON_FIELD(webhook.targets)},
    {"webhook.timeout", "time limit of one request", kDuration, 1, 60, TAUT_DAEMON_FIELD(webhook.timeout_s)},
    {"webhook.give_up_after",
     "an order that could not be delivered for this long fails; it counts anew after a restart", kDuration, 1,
     30 * brain::kDay, TAUT_DAEMON_FIELD(webhook.give_up_after_s)},
    {"webhook.ca_file", "PEM file of the CA of its certificate; empty: the system's", kPlain, 0, 0,
     TAUT_DAEMON_FIELD(webhook.ca_file)},
};

const DaemonSetting kExternalRows[] = {
    {"external_scaler.listen",
     "addresses on which to listen for KEDA (external scaler), ADDRESS:PORT; empty: none; others than "
     "loopback need a client CA",
     kPlain, 0, 0, TAUT_DAEMON_FIELD(external_scaler.listen)},
    {"external_scaler.tls.certificate", "PEM file of the certificate for KEDA; with it, TLS only", kPlain, 0,
     0, TAUT_DAEMON_FIELD(external_scaler.certificate_file)},
    {"external_scaler.tls.key", "PEM file of its key", kPlain, 0, 0,
     TAUT_DAEMON_FIELD(external_scaler.key_file)},
    {"external_scaler.tls.client_ca", "PEM file: KEDA must have a certificate of this CA", kPlain, 0, 0,
     TAUT_DAEMON_FIELD(external_scaler.client_ca_file)},
    {"external_recommender.address",
     "HOST:PORT of your own recommender (gRPC, proto/recommender.proto) for jobs with external: true; "
     "empty: none",
     kPlain, 0, 0, TAUT_DAEMON_FIELD(external_recommender.address)},
    {"external_recommender.deadline", "time limit of one call, of at most 500 jobs", kDuration, 1, 240,
     TAUT_DAEMON_FIELD(external_recommender.deadline_s)},
    {"external_recommender.hold",
     "time for which an answer is valid; after it, the job's own recommender applies", kDuration, 300,
     7 * brain::kDay, TAUT_DAEMON_FIELD(external_recommender.hold_s)},
    {"external_recommender.max_step",
     "an answer of more than this many times a task's usage and limit, or the number of tasks, is refused",
     kPlain, 1, 1e6, TAUT_DAEMON_FIELD(external_recommender.max_step)},
    {"external_recommender.tls.ca",
     "PEM file of the CA of its certificate; empty, and no certificate: plain text", kPlain, 0, 0,
     TAUT_DAEMON_FIELD(external_recommender.ca_file)},
    {"external_recommender.tls.certificate", "PEM file of tautd's client certificate", kPlain, 0, 0,
     TAUT_DAEMON_FIELD(external_recommender.certificate_file)},
    {"external_recommender.tls.key", "PEM file of its key", kPlain, 0, 0,
     TAUT_DAEMON_FIELD(external_recommender.key_file)},
};

const DaemonSetting kNotifyRows[] = {
    {"notify.url", "URL to which events are sent as JSON by POST; empty: none", kUrl, 0, 0,
     TAUT_DAEMON_FIELD(notify.url)},
    {"notify.events",
     "events to send: limit_lowered, limit_rolled_back, oom_kill, agent_disconnected, agent_connected, "
     "store_not_ready, store_ready, setting_changed, replicas_step_back, replicas_held, replicas_hold_ended, "
     "budget_share, budget_forecast, tier_act",
     kPlain, 0, 0, TAUT_DAEMON_FIELD(notify.events)},
    {"notify.secret_file", "file with the key of the HMAC-SHA256 in X-Tautline-Signature; empty: not signed",
     kPlain, 0, 0, TAUT_DAEMON_FIELD(notify.secret_file)},
    {"notify.ca_file", "PEM file of the CA of its certificate; empty: the system's", kPlain, 0, 0,
     TAUT_DAEMON_FIELD(notify.ca_file)},
};

absl::Status CheckWebhook(const DaemonConfig& config) {
  const WebhookConfig& webhook = config.webhook;
  if (webhook.url.empty()) return absl::OkStatus();
  if (webhook.secret_file.empty()) {
    return absl::InvalidArgumentError(
        "webhook.secret_file is empty: expected a file with the secret that signs the requests");
  }
  constexpr std::string_view kTargets[] = {"all", "limits", "replicas"};
  if (std::ranges::find(kTargets, webhook.targets) == std::end(kTargets)) {
    return absl::InvalidArgumentError(
        StrCat("invalid webhook.targets \"", webhook.targets, "\": expected all, limits or replicas"));
  }
  return absl::OkStatus();
}

}  // namespace

DaemonSection WebhookSection() { return {kWebhookRows, CheckWebhook}; }

DaemonSection ExternalSection() { return {kExternalRows}; }

DaemonSection NotifySection() { return {kNotifyRows}; }

}  // namespace taut::server
