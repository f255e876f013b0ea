// The daemon's component for agents: the hub, the port for agents, and the naming of pods' containers.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "server/agents/agent_hub.h"
#include "server/agents/pod_tasks.h"
#include "server/agents/reopened_agent_server.h"
#include "server/control/component.h"

namespace taut::server {

class AgentsComponent final : public Component {
 public:
  // The cluster on whose nodes agents may run.
  struct Pods {
    // Functions of PodTasks::Options.
    std::function<std::optional<std::pair<std::string, std::string>>(std::string_view id)> find;
    std::function<bool()> is_synced;
  };
  struct Options {
    AgentsConfig config;                                    // configuration with at least one address
    bool apply = false;                                     // true: agents carry orders out
    std::function<bool(const std::string& job)> elsewhere;  // AgentHub::Options::elsewhere
    std::string own_machine;                                // AgentHub::Options::own_machine
    std::optional<Pods> pods;
    bool pods_elsewhere = false;  // true: limits of pods are set through the API server
  };
  // `context` must outlive the component.
  AgentsComponent(Options options, const DaemonContext& context);

  std::string_view name() const override { return "agents"; }
  // Starts after Kubernetes, because the watch of pods determines the names of containers.
  std::span<const std::string_view> after() const override;
  // Returns the hub. The hub also reports why orders that no actuator claims are not applied. Call once.
  absl::StatusOr<std::unique_ptr<Actuator>> MakeActuator() override;
  const AgentHub* hub() const { return hub_; }
  // Opens the port. Returns the errors of ReopenedAgentServer::Start.
  absl::Status Start() override;
  void BeforePass() override { hub_->BeginTick(); }
  void AfterPass(bool stored) override { hub_->EndTick(stored); }
  void OnReload(Reloading& reload) override;
  void Collect(MetricsText& out) const override;
  void Stop() override;
  AgentHubCounts counts() const;

 private:
  // Returns true if another actuator sets the job's limits.
  bool IsElsewhere(const std::string& job) const;

  const Options options_;
  const DaemonContext& context_;
  std::unique_ptr<AgentHub> own_hub_;  // hub; null once the control plane owns it
  AgentHub* const hub_;
  // Names of containers; null without a cluster; outlives port_ and the hub's calls.
  std::unique_ptr<PodTasks> pod_tasks_;
  std::unique_ptr<ReopenedAgentServer> port_;
};

}  // namespace taut::server
