// The main loop of tautlet: clocks, epoll, and the times at which samples, searches, heartbeats and logs are
// due.
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
    double speed = 1;            // speed-up of the agent's clock; 1: real time
    std::string state;           // directory of the file with the start time of a sped-up clock
    std::string daemon_address;  // address for the log; "": no daemon
  };
  // `log` must outlive the loop.
  AgentLoop(Options options, DaemonLog& log);
  ~AgentLoop() override;

  void Add(const Wakeup& wakeup, uint64_t key) override;
  void Remove(int fd) override;

  // Runs until SIGTERM or SIGINT, which must be blocked in all threads. `uplink` must be the uplink of
  // `agent`. Internal if epoll_create1 failed.
  absl::Status Run(Agent& agent, Uplink& uplink);

 private:
  NodeTime Now() const;
  // Waits for an event or until `next_us` (steady time) and handles the events. Returns true if a signal to
  // stop arrived.
  bool WaitAndAct(Agent& agent, int64_t next_us);
  void Log(Agent& agent, const Uplink& uplink);
  void LogConnection(const UplinkStatus& status);
  void LogAct(const AgentAct& act);

  const Options options_;
  DaemonLog& log_;
  int epoll_ = -1;
  int64_t start_us_ = 0, start_steady_us_ = 0;
  std::map<std::string, std::string> logged_;  // errors that are in the log already
  std::optional<bool> was_connected_;          // last logged state of the connection
  std::string connection_error_;
  int64_t connection_logged_us_ = 0;
};

}  // namespace taut::node
