// Names of pods' containers. Agents on the nodes of a Kubernetes cluster identify a container only by its cgroup.
// PodTasks replaces the cgroup's name by the job and pod from tautd's watch, and restores the agent's name in
// orders. An agent therefore needs no permissions in the cluster.
//
// PodTasks connects the agents' server and the hub: the server uses PodTasks as its listener, and the hub uses
// PodTasks as its server. Tasks that are not containers of pods pass unchanged.
//
// Threads: the rules of AgentListener and AgentServer.
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

// Returns the container's ID if the task is a container of a pod, else "". Each container is a separate job for
// the agent, because agents receive terms by job.
std::string_view PodContainerOf(const taut::agent::v1::TaskName& name);
// Same as PodContainerOf, for the job name of an agent that does not send TaskName.pod_container: such an agent
// names a container of a pod "kubepods/cri-containerd-ID.scope".
std::string_view PodContainerOfOlderAgent(std::string_view job);

struct PodTasksCounts {
  // Announced containers that belong to no known pod, including pause containers.
  uint64_t waiting = 0;
  uint64_t dropped = 0;  // windows, OOM kills and acts of containers that belong to no known pod
};

class PodTasks final : public AgentListener, public AgentServer {
 public:
  using Name = std::pair<std::string, std::string>;  // names of job and task
  struct Options {
    // Returns the job and task of a container by the container's ID; nullopt if no pod has this container
    // now.
    std::function<std::optional<Name>(std::string_view container)> find;
    // Returns true once the cluster's pods are known. Until then, kept messages about unknown containers are not
    // processed, and the agent keeps them.
    std::function<bool()> is_synced;
    std::function<double()> steady_s;
    double forget_s = 6 * 3600;  // time without reports after which a container's name is forgotten
  };
  // `hub` must outlive this object.
  PodTasks(Options options, AgentListener* hub) : options_(std::move(options)), hub_(hub) {}
  // Sets the server for messages to agents. The server must outlive all later calls of this object's functions.
  // Before this call, no message is sent.
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
  // Returns true if a report about a pod's container of this job arrived within Options::forget_s.
  bool IsPods(const std::string& job) const;

 private:
  struct Known {
    Name name;
    double used_s = 0;
  };
  struct Session {
    // Tasks without a known pod, by the agent's name for the task.
    std::map<Name, taut::agent::v1::Task> waiting;
    // Name that the agent uses for the newest container of each task. Key: job and task of the container's pod.
    std::map<Name, taut::agent::v1::TaskName> of;
    bool closing = false;  // true: the session is being ended, and no further message is processed
  };
  // All functions from here to NameKept require mutex_.
  std::optional<Name> Find(const taut::agent::v1::TaskName& agents);
  std::map<std::string, Known>::iterator Forget(std::map<std::string, Known>::iterator known);
  std::optional<taut::agent::v1::Task> Named(Session& session, const taut::agent::v1::Task& task);
  void NameTasks(Session& session, taut::agent::v1::Tasks& tasks);
  void NameWaiting(Session& session, taut::agent::v1::Tasks& out);
  void NameOutcomes(taut::agent::v1::Outcomes& outcomes);
  // Returns false if a container of the message is not known yet: the message must be resent.
  bool NameKept(taut::agent::v1::FromAgent& message);
  AgentServer* Server() const;

  const Options options_;
  AgentListener* const hub_;
  // Locked while functions of `options_` run; no other callee is called under this lock.
  mutable std::mutex mutex_;
  AgentServer* server_ = nullptr;
  std::map<SessionId, Session> sessions_;  // sessions with containers of pods
  std::map<std::string, Known> known_;     // known containers by ID
  std::map<std::string, size_t> jobs_;     // number of containers in known_ of each job
  uint64_t dropped_ = 0;
};

}  // namespace taut::server
