// The loop of tautlet: clocks, epoll, and when what is due.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "common/base/daemon_log.h"
#include "node/agent/agent.h"

namespace taut::node {

class AgentLoop final : public FdWatch {
 public:
  struct Options {
    int64_t sample_ms = 1000, find_s = 5;
    double speed = 1;            // of the agent's clock
    std::string state;           // directory that keeps when a sped-up clock began
    std::string daemon_address;  // in the log; "": no daemon
  };
  // `log` outlives it.
  AgentLoop(Options options, DaemonLog& log);
  ~AgentLoop() override;

  void Add(const Wakeup& wakeup, uint64_t key) override;
  void Remove(int fd) override;

  // Until TERM or INT, which must be blocked in all threads. `uplink` as the agent's.
  absl::Status Run(Agent& agent, Uplink& uplink);

 private:
  NodeTime Now() const;
  // Waits until the time, or until something comes, which it acts on. True: a signal to stop came.
  bool WaitAndAct(Agent& agent, int64_t next_us);
  void Log(Agent& agent, const Uplink& uplink);
  void LogConnection(const UplinkStatus& status);
  void LogAct(const AgentAct& act);

  const Options options_;
  DaemonLog& log_;
  int epoll_ = -1;
  int64_t start_us_ = 0, start_steady_us_ = 0;
  std::map<std::string, std::string> logged_;  // the errors that were logged
  std::optional<bool> was_connected_;          // as last logged
  std::string connection_error_;
  int64_t connection_logged_us_ = 0;
};

}  // namespace taut::node
