// Names of pods' containers. Agents on the nodes of a Kubernetes cluster know a container only by its cgroup.
// PodTasks replaces that name by the job and pod that tautd knows from its watch, and in orders restores the
// agent's name. So an agent needs no rights in the cluster.
//
// It stands between the agents' server and the hub: it is the listener of the server, and the server of the
// hub. Tasks that are not containers of pods pass unchanged.
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

// Prefix of the job name that an agent gives a container of a pod: "kubepods/cri-containerd-ID.scope". The ID
// has 64 hex digits. Each container is a job of its own, since agents receive terms by job.
inline constexpr std::string_view kPodJobPrefix = "kubepods/";

struct PodTasksCounts {
  // Announced containers that no known pod has. Pause containers stay among them.
  uint64_t waiting = 0;
  uint64_t dropped = 0;  // windows, OOM kills and acts of such containers
};

class PodTasks final : public AgentListener, public AgentServer {
 public:
  using Name = std::pair<std::string, std::string>;  // job, task
  struct Options {
    // Returns the name of a container by its ID; nullopt if no pod has it now.
    std::function<std::optional<Name>(std::string_view container)> find;
    // True once the cluster's pods are known. Before that, kept messages about unknown containers are not
    // taken in, and the agent keeps them.
    std::function<bool()> is_synced;
    std::function<double()> steady_s;
    double forget_s = 6 * 3600;  // names of containers without a report for this time are forgotten
  };
  // `hub` must outlive it.
  PodTasks(Options options, AgentListener* hub) : options_(std::move(options)), hub_(hub) {}
  // The server must outlive the last call. Nothing is sent before it is set.
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
  // True if a container of a pod was lately named as a task of this job.
  bool IsPods(const std::string& job) const;

 private:
  struct Known {
    Name name;
    double used_s = 0;
  };
  struct Session {
    std::map<Name, taut::agent::v1::Task> waiting;  // by the agent's name
    std::map<Name, Name> of;                        // the agent's newest container, by the pod's name
    bool closing = false;                           // the session is being ended: nothing more is taken in
  };
  // All of these require mutex_.
  std::optional<Name> Find(const taut::agent::v1::TaskName& agents);
  std::map<std::string, Known>::iterator Forget(std::map<std::string, Known>::iterator known);
  std::optional<taut::agent::v1::Task> Named(Session& session, const taut::agent::v1::Task& task);
  void NameTasks(Session& session, taut::agent::v1::Tasks& tasks);
  void NameWaiting(Session& session, taut::agent::v1::Tasks& out);
  void NameOutcomes(taut::agent::v1::Outcomes& outcomes);
  // Returns false if a container is not known yet: the message must be resent.
  bool NameKept(taut::agent::v1::FromAgent& message);
  AgentServer* Server() const;

  const Options options_;
  AgentListener* const hub_;
  mutable std::mutex mutex_;  // no call is made under it except to `options_`
  AgentServer* server_ = nullptr;
  std::map<SessionId, Session> sessions_;  // only those with containers of pods
  std::map<std::string, Known> known_;     // by the container's ID
  std::map<std::string, size_t> jobs_;     // jobs of known_, and how many containers each has
  uint64_t dropped_ = 0;
};

}  // namespace taut::server
