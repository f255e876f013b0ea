// Agents on the nodes of a Kubernetes cluster know a container by its cgroup alone. Here it gets the name of the
// job and pod that tautd knows it by, from its watch of the pods, and orders get the agent's name again: an agent
// needs no right in the cluster.
//
// Stands between the server of agents and the hub: the listener of the one and the server of the other. What is
// of no pod passes as it is.
//
// Threads: as AgentListener and AgentServer.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "server/agents/agent_server.h"

namespace taut::server {

// What begins the job of a container of a pod, as an agent names it: "kubepods/cri-containerd-ID.scope". The ID
// is of 64 hex digits, and each container is a job of its own, since agents get terms by jobs.
inline constexpr std::string_view kPodJobPrefix = "kubepods/";

struct PodTasksCounts {
  uint64_t waiting =
      0;  // containers that are announced and that no pod is known to have; pause containers stay so
  uint64_t dropped = 0;  // windows and OOM kills of such containers
};

class PodTasks final : public AgentListener, public AgentServer {
 public:
  using Name = std::pair<std::string, std::string>;  // job, task
  struct Options {
    // The name of a container by its ID; nullopt: no pod has it now.
    std::function<std::optional<Name>(std::string_view container)> find;
    // Whether the pods of the cluster are known. Before, what an agent kept of them is not taken, and it keeps it.
    std::function<bool()> is_synced;
    std::function<double()> steady_s;
    double forget_s = 6 * 3600;  // names of containers of which nothing came since
  };
  // `hub` must outlive it.
  PodTasks(Options options, AgentListener* hub) : options_(std::move(options)), hub_(hub) {}
  // Must outlive the last call; before it nothing is sent.
  void SetServer(AgentServer* server);

  // ---- AgentListener ----
  void OnConnect(SessionId session, const taut::agent::v1::FromAgent& hello, const std::string& who) override;
  void OnMessage(SessionId session, const taut::agent::v1::FromAgent& message) override;
  void OnRefused(SessionId session, uint64_t sequence, const absl::Status& why) override;
  void OnDisconnect(SessionId session) override;

  // ---- AgentServer ----
  bool Send(SessionId session, taut::agent::v1::ToAgent message) override;
  void Close(SessionId session) override;
  int port() const override;
  AgentServerCounts counts() const override;
  void Stop() override;

  PodTasksCounts pod_counts() const;
  // Whether a container of a pod was named as a task of this job lately.
  bool IsPods(const std::string& job) const;

 private:
  struct Known {
    Name name;
    double used_s = 0;
  };
  struct Session {
    std::map<Name, taut::agent::v1::Task> waiting;  // by the agent's name
    std::map<Name, Name> of;                        // the agent's newest container, by name
    bool closing = false;                           // nothing more of it is taken
  };
  // All REQUIRE mutex_.
  std::optional<Name> Find(const taut::agent::v1::TaskName& agents);
  std::map<std::string, Known>::iterator Forget(std::map<std::string, Known>::iterator known);
  std::optional<taut::agent::v1::Task> Named(Session& session, const taut::agent::v1::Task& task);
  void NameTasks(Session& session, taut::agent::v1::Tasks& tasks);
  void NameWaiting(Session& session, taut::agent::v1::Tasks& out);
  void NameOutcomes(taut::agent::v1::Outcomes& outcomes);
  // False: not known yet, and to be sent again.
  bool NameKept(taut::agent::v1::FromAgent& message);
  AgentServer* Server() const;

  const Options options_;
  AgentListener* const hub_;
  mutable std::mutex mutex_;  // no call goes out under it but to `options_`
  AgentServer* server_ = nullptr;
  std::map<SessionId, Session> sessions_;  // that have containers of pods
  std::map<std::string, Known> known_;     // by the container's ID
  std::map<std::string, size_t> jobs_;     // of known_: how many containers each has
  uint64_t dropped_ = 0;
};

}  // namespace taut::server
