// What SIGHUP changes of a running daemon.
#include <algorithm>

#include "common/base/strings.h"
#include "spdlog/spdlog.h"
#include "tools/programs/action_log.h"
#include "tools/programs/daemon.h"

namespace taut::tools {
namespace {

bool IsTls(std::string_view key) {
  return key == "server.tls.certificate" || key == "server.tls.key" || key == "server.tls.client_ca";
}

// Taken over without a restart where there is quota before and after.
bool IsQuotaRule(std::string_view key) {
  return key == "quota.file" || key == "quota.group" || key == "quota.tier" || key == "quota.default_tier";
}

// Taken over without a restart.
bool IsReloaded(std::string_view key, bool tls_stays) {
  return key.starts_with("migration.") || key.starts_with("server.tokens.") || key == "agents.tokens_file" ||
         key == "server.oidc.bindings" || key.starts_with("agents.tls.") ||
         key.starts_with("quota.grpc.tls.") || (tls_stays && IsTls(key));
}

void LogKept(std::string_view what, const absl::Status& status) {
  ActionLog::Warn("reload_failed", {{"what", what}, {"error", Message(status)}, {"kept", "as before"}});
}

}  // namespace

void Daemon::ReloadQuotaPort(const server::QuotaGrpcConfig& config, const ServerOptions& server) {
  if (quota_port_ == nullptr) return;
  const absl::StatusOr<bool> again = quota_port_->Reload(config, server);
  if (!again.ok()) return LogKept("certificates of quota.grpc", again.status());
  const std::vector<std::string> listen = config_.quota_grpc.listen;
  config_.quota_grpc = config;
  config_.quota_grpc.listen = listen;
  if (*again) ActionLog::Info("quota_port_reopened", {{"reason", "its certificates changed"}});
}

void Daemon::Reload(const server::DaemonConfig& config) {
  control_->Reload(LiveSettingsOf(config));
  if (hub_ != nullptr) hub_->OnSettings("");
  config_.recommenders = config.recommenders;
  config_.rules = config.rules;
  config_.migration = config.migration;

  std::string taken_parts = "rules, defaults, migration, recommenders";
  const auto took = [&](std::string_view part) { StrAppend(&taken_parts, ", ", part); };
  const bool tls_stays = config_.server.options.has_tls() == config.server.options.has_tls();
  server::ServerConfig server = config.server;
  server.options.listen = config_.server.options.listen;  // a restart would change these
  server.options.verifier = config_.server.options.verifier;
  server.options.sessions = config_.server.options.sessions;
  server.oidc = config_.server.oidc;
  server.oidc.bindings = config.server.oidc.bindings;
  const absl::StatusOr<ServerOptions> options = server::OpenServerOptions(server);
  absl::Status taken = options.status();
  if (taken.ok()) taken = CheckBindings(server, *options, config.quota, config.budgets);
  const absl::StatusOr<std::vector<server::ClaimBinding>> bindings = ReadClaimBindings(server.oidc);
  if (taken.ok()) taken = bindings.status();
  if (taken.ok() && oidc_verifier_ != nullptr && bindings->empty())
    taken = absl::InvalidArgumentError("server.oidc.bindings is empty: no one could do anything");
  // Before event streams end, which their clients open again.
  if (taken.ok() && oidc_verifier_ != nullptr) oidc_verifier_->SetBindings(*bindings);
  if (taken.ok()) {
    taken = server_->Reload(*options);
    const auto before = ReadClaimBindings(config_.server.oidc);
    if (!taken.ok() && oidc_verifier_ != nullptr && before.ok()) oidc_verifier_->SetBindings(*before);
  }
  if (taken.ok()) {
    took("tokens and certificates of the server");
    config_.server.oidc.bindings = config.server.oidc.bindings;
    ReloadQuotaPort(config.quota_grpc, *options);
    config_.server.writer_tokens_file = config.server.writer_tokens_file;
    config_.server.group_tokens_file = config.server.group_tokens_file;
    config_.server.reader_tokens_file = config.server.reader_tokens_file;
    config_.server.platform_tokens_file = config.server.platform_tokens_file;
    config_.server.operator_tokens_file = config.server.operator_tokens_file;
    if (tls_stays) {
      config_.server.options.certificate_file = config.server.options.certificate_file;
      config_.server.options.key_file = config.server.options.key_file;
      config_.server.options.client_ca_file = config.server.options.client_ca_file;
    }
  } else {
    LogKept("tokens and certificates of the server", taken);
  }
  if (agent_server_ != nullptr) {
    const absl::StatusOr<bool> again = agent_server_->Reload(config.agents);
    if (again.ok()) {
      took("tokens and certificates of agents");
      const std::vector<std::string> listen = config_.agents.listen;
      config_.agents = config.agents;
      config_.agents.listen = listen;
      if (*again) ActionLog::Info("agents_port_reopened", {{"reason", "its tokens or certificates changed"}});
    } else {
      LogKept("tokens and certificates of agents", again.status());
    }
  }
  if (quota_ != nullptr && !config.quota.file.empty()) {
    if (const absl::Status s = quota_->Reload(config.quota, *control_->view()); s.ok()) {
      took("quota");
      config_.quota.file = config.quota.file;
      config_.quota.group = config.quota.group;
      config_.quota.tier = config.quota.tier;
      config_.quota.default_tier = config.quota.default_tier;
    } else {
      LogKept("quota", s);
    }
  }
  // After the quota, whose groups they pay for.
  if (budgets_ != nullptr && !config.budgets.file.empty()) {
    server::DaemonConfig next = config;
    // Of these only a restart takes others over.
    next.prices = config_.prices;
    next.store = config_.store;
    if (const absl::Status s = budgets_->Reload(next); s.ok()) {
      took("budgets");
      config_.budgets.file = config.budgets.file;
    } else {
      LogKept("budgets", s);
    }
  }
  ActionLog::Info("configuration_reloaded", {{"taken", taken_parts}});
  for (const std::string& key : server::ChangedKeys(config_, config)) {
    if (IsReloaded(key, tls_stays)) continue;
    if (quota_ != nullptr && !config.quota.file.empty() && IsQuotaRule(key)) continue;
    if (budgets_ != nullptr && !config.budgets.file.empty() && key == "budgets.file") continue;
    ActionLog::Warn("restart_needed",
                    {{"key", key}, {"reason", "changed in the file; takes effect after a restart"}});
  }
}

}  // namespace taut::tools
