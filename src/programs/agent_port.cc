#include "programs/agent_port.h"

#include <fstream>
#include <sstream>

#include "base/strings.h"

namespace taut {
namespace {

// More streams than one server ever has.
constexpr SessionId kSessionsPerServer = SessionId{1} << 40;

struct Read {
  AgentServerOptions options;
  std::string secrets;
};

absl::StatusOr<Read> ReadAll(const AgentsConfig& config) {
  Read out;
  absl::StatusOr<std::vector<std::string>> tokens = ReadTokenFile(config.tokens_file);
  if (!tokens.ok()) return tokens.status();
  out.secrets = fmt::format("{}", fmt::join(*tokens, "\n"));
  out.options.listen = config.listen;
  out.options.tokens = *std::move(tokens);
  out.options.certificate_file = config.certificate_file;
  out.options.key_file = config.key_file;
  out.options.client_ca_file = config.client_ca_file;
  for (const std::string* file : {&config.certificate_file, &config.key_file, &config.client_ca_file}) {
    std::ostringstream text;
    if (!file->empty()) text << std::ifstream(*file).rdbuf();
    StrAppend(&out.secrets, "\n\n", text.str());
  }
  return out;
}

// Hears of nothing.
class NoListener final : public AgentListener {
  void OnConnect(SessionId, const taut::agent::v1::FromAgent&, const std::string&) override {}
  void OnMessage(SessionId, const taut::agent::v1::FromAgent&) override {}
  void OnDisconnect(SessionId) override {}
};

}  // namespace

absl::StatusOr<std::unique_ptr<AgentPort>> AgentPort::Start(const AgentsConfig& config,
                                                            AgentListener* listener) {
  absl::StatusOr<Read> read = ReadAll(config);
  if (!read.ok()) return read.status();
  std::unique_ptr<AgentPort> port(new AgentPort(config, listener));
  if (absl::Status s = port->Open(read->options); !s.ok()) return s;
  port->secrets_ = std::move(read->secrets);
  return port;
}

absl::Status AgentPort::Open(const AgentServerOptions& options) {
  AgentServerOptions own = options;
  own.first_session = next_session_;
  next_session_ += kSessionsPerServer;
  absl::StatusOr<std::unique_ptr<AgentServer>> server = AgentServer::Start(own, listener_);
  if (!server.ok()) return server.status();
  const std::lock_guard lock(mutex_);
  server_ = *std::move(server);
  return absl::OkStatus();
}

absl::StatusOr<bool> AgentPort::Reload(const AgentsConfig& config) {
  AgentsConfig wanted = config;
  wanted.listen = config_.listen;
  absl::StatusOr<Read> read = ReadAll(wanted);
  if (!read.ok()) return read.status();
  if (read->secrets == secrets_) return false;
  AgentServerOptions trial = read->options;
  // Whether they would work for the real addresses, tried on a free one.
  for (std::string& address : trial.listen) {
    const absl::StatusOr<ListenAddress> parsed = ParseListenAddress(address);
    if (!parsed.ok()) return parsed.status();
    address = parsed->host.find(':') == std::string::npos ? StrCat(parsed->host, ":0")
                                                          : StrCat("[", parsed->host, "]:0");
  }
  NoListener no_listener;
  absl::StatusOr<std::unique_ptr<AgentServer>> tried = AgentServer::Start(trial, &no_listener);
  if (!tried.ok()) return tried.status();
  (*tried)->Stop();
  // The first address may have had any free port: it keeps the one it got.
  AgentServerOptions options = read->options;
  const absl::StatusOr<ListenAddress> first = ParseListenAddress(options.listen.front());
  if (first.ok() && first->port == 0) {
    options.listen.front() = first->host.find(':') == std::string::npos
                                 ? StrCat(first->host, ":", port())
                                 : StrCat("[", first->host, "]:", port());
  }
  Current()->Stop();
  if (absl::Status s = Open(options); !s.ok()) return s;
  config_ = wanted;
  secrets_ = std::move(read->secrets);
  return true;
}

}  // namespace taut
