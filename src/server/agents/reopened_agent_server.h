// The agents' port, which can be reopened with other tokens and certificates.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "server/agents/agent_server.h"
#include "server/config/daemon_config.h"

namespace taut::server {

class ReopenedAgentServer final : public AgentServer {
 public:
  // Reads the files that `config` names and opens the port. Returns the errors of the files and of
  // AgentServer::Start.
  static absl::StatusOr<std::unique_ptr<ReopenedAgentServer>> Start(const AgentsConfig& config,
                                                                    AgentListener* listener);
  ~ReopenedAgentServer() override { ReopenedAgentServer::Stop(); }

  // Reads the files that `config` names. If their content has changed, closes the port and opens it again; agents
  // reconnect and keep their messages meanwhile. Returns true if the port was reopened. After an error, the port
  // is unchanged and open, unless the error reports that the port is closed. Always uses the addresses of Start.
  absl::StatusOr<bool> Reload(const AgentsConfig& config);

  bool Send(SessionId session, taut::agent::v1::ToAgent message) override {
    return Current()->Send(session, std::move(message));
  }
  void Close(SessionId session) override { Current()->Close(session); }
  int port() const override { return Current()->port(); }
  AgentServerCounts counts() const override { return Current()->counts(); }
  void Stop() override {
    if (const std::shared_ptr<AgentServer> server = Current(); server != nullptr)
      server->Stop();  // null if the port was never opened
  }

 private:
  ReopenedAgentServer(AgentsConfig config, AgentListener* listener)
      : config_(std::move(config)), listener_(listener) {}
  std::shared_ptr<AgentServer> Current() const {
    const std::lock_guard lock(mutex_);
    return server_;
  }
  absl::Status Open(const AgentServerOptions& options);

  AgentsConfig config_;
  AgentListener* const listener_;
  std::string secrets_;  // content of the files at the last successful Start or Reload
  SessionId next_session_ = 1;
  mutable std::mutex mutex_;
  std::shared_ptr<AgentServer> server_;
};

}  // namespace taut::server
