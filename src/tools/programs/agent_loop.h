// The loop of tautlet: clocks, epoll, and when what is due.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "node/agent/agent.h"
#include "server/config/agent_config.h"

namespace taut::tools {

class AgentLoop final : public node::FdWatch {
 public:
  AgentLoop();
  ~AgentLoop() override;

  void Add(const node::Wakeup& wakeup, uint64_t key) override;
  void Remove(int fd) override;

  // Until TERM or INT, which must be blocked in all threads. `uplink` as the agent's.
  absl::Status Run(node::Agent& agent, node::Uplink& uplink, const server::AgentConfig& config);

 private:
  node::NodeTime Now() const;
  void Log(node::Agent& agent, const node::Uplink& uplink, const server::AgentConfig& config);
  void LogConnection(const node::UplinkStatus& status, const std::string& daemon);

  int epoll_ = -1;
  double speed_ = 1;
  int64_t start_us_ = 0, start_steady_us_ = 0;
  std::map<std::string, std::string> logged_;  // the errors that were logged
  std::optional<bool> was_connected_;          // as last logged
  std::string connection_error_;
  int64_t connection_logged_us_ = 0;
};

}  // namespace taut::tools
