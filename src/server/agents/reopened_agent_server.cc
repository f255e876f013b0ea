#include "server/agents/reopened_agent_server.h"

#include "common/base/strings.h"
#include "common/net/reopened_port.h"

namespace taut::server {
namespace {

// Number of session ids per server, more than any server can use. The ids of two servers therefore never overlap.
constexpr SessionId kSessionsPerServer = SessionId{1} << 40;

struct Read {
  AgentServerOptions options;
  std::string secrets;
};

absl::StatusOr<Read> ReadAll(const AgentsConfig& config) {
  Read out;
  absl::StatusOr<std::vector<std::string>> tokens = ReadTokenFile(config.tokens_file);
  if (!tokens.ok()) return tokens.status();
  out.secrets = Join(*tokens, "\n");
  out.options.listen = config.listen;
  out.options.tokens = *std::move(tokens);
  out.options.certificate_file = config.certificate_file;
  out.options.key_file = config.key_file;
  out.options.client_ca_file = config.client_ca_file;
  StrAppend(&out.secrets, "\n\n",
            TextOfFiles({&config.certificate_file, &config.key_file, &config.client_ca_file}));
  return out;
}

// Ignores all events. Used by a server that is started only to check the new files.
class NoListener final : public AgentListener {
  void OnConnect(SessionId, const agent::v1::FromAgent&, const std::string&) override {}
  void OnMessage(SessionId, const agent::v1::FromAgent&) override {}
  void OnDisconnect(SessionId) override {}
};

}  // namespace

absl::StatusOr<std::unique_ptr<ReopenedAgentServer>> ReopenedAgentServer::Start(const AgentsConfig& config,
                                                                                AgentListener* listener) {
  absl::StatusOr<Read> read = ReadAll(config);
  if (!read.ok()) return read.status();
  std::unique_ptr<ReopenedAgentServer> port(new ReopenedAgentServer(config, listener));
  if (absl::Status s = port->Open(read->options); !s.ok()) return s;
  port->secrets_ = std::move(read->secrets);
  return port;
}

absl::Status ReopenedAgentServer::Open(const AgentServerOptions& options) {
  AgentServerOptions own = options;
  own.first_session = next_session_;
  next_session_ += kSessionsPerServer;
  absl::StatusOr<std::unique_ptr<AgentServer>> server = AgentServer::Start(own, listener_);
  if (!server.ok()) return server.status();
  const std::lock_guard lock(mutex_);
  server_ = *std::move(server);
  return absl::OkStatus();
}

absl::StatusOr<bool> ReopenedAgentServer::Reload(const AgentsConfig& config) {
  AgentsConfig wanted = config;
  wanted.listen = config_.listen;
  absl::StatusOr<Read> read = ReadAll(wanted);
  if (!read.ok()) return read.status();
  if (read->secrets == secrets_) return false;
  AgentServerOptions options = read->options;
  NoListener no_listener;
  const auto attempt = [&](const Addresses& listen) {
    options.listen = listen;
    const absl::StatusOr<std::unique_ptr<AgentServer>> tried = AgentServer::Start(options, &no_listener);
    if (tried.ok()) (*tried)->Stop();
    return tried.status();
  };
  const auto open = [&](const Addresses& listen) {
    options.listen = listen;
    return Open(options);
  };
  const absl::Status reopened = ReopenPort(
      wanted.listen, port(), {.attempt = attempt, .stop = [this] { Current()->Stop(); }, .open = open});
  if (!reopened.ok()) return reopened;
  config_ = wanted;
  secrets_ = std::move(read->secrets);
  return true;
}

}  // namespace taut::server
