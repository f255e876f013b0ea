// The daemon's agents: the hub, the port that they connect to, and what of their tasks are pods of a cluster.
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
  // The cluster whose nodes agents may run on.
  struct Pods {
    // As PodTasks::Options.
    std::function<std::optional<std::pair<std::string, std::string>>(std::string_view id)> find;
    std::function<bool()> is_synced;
  };
  struct Options {
    AgentsConfig config;                                    // with an address
    bool apply = false;                                     // agents carry orders out
    std::function<bool(const std::string& job)> elsewhere;  // as AgentHub::Options
    std::string own_machine;                                // likewise
    std::optional<Pods> pods;
    bool pods_elsewhere = false;  // the limits of pods are set through the API server
  };
  // `context` outlives it.
  AgentsComponent(Options options, const DaemonContext& context);

  std::string_view name() const override { return "agents"; }
  // Its pods are found there.
  std::span<const std::string_view> after() const override;
  // The hub, which reports why orders that no actuator claims are not applied.
  absl::StatusOr<std::unique_ptr<Actuator>> MakeActuator() override;
  const AgentHub* hub() const { return hub_; }
  // Errors as ReopenedAgentServer.
  absl::Status Start() override;
  void BeforePass() override { hub_->BeginTick(); }
  void AfterPass(bool stored) override { hub_->EndTick(stored); }
  void OnReload(Reloading& reload) override;
  void Collect(MetricsText& out) const override;
  void Stop() override;
  AgentHubCounts counts() const;

 private:
  // Whether another actuator sets the job's limits.
  bool IsElsewhere(const std::string& job) const;

  const Options options_;
  const DaemonContext& context_;
  std::unique_ptr<AgentHub> own_hub_;  // until the control plane has it
  AgentHub* const hub_;
  std::unique_ptr<PodTasks> pod_tasks_;  // of a cluster's nodes; outlives port_, and the hub's calls
  std::unique_ptr<ReopenedAgentServer> port_;
};

}  // namespace taut::server
