#include "server/agents/agents_component.h"

#include "common/base/strings.h"
#include "common/net/clocks.h"
#include "server/agents/agent_metrics.h"

namespace taut::server {
AgentsComponent::AgentsComponent(Options options, const DaemonContext& context)
    : options_(std::move(options)),
      context_(context),
      own_hub_(std::make_unique<AgentHub>(
          AgentHub::Options{.apply = options_.apply,
                            .steady_s = SteadySeconds,
                            .now = context.now,
                            .elsewhere = [this](const std::string& job) { return IsElsewhere(job); },
                            .own_machine = options_.own_machine})),
      hub_(own_hub_.get()) {}

bool AgentsComponent::IsElsewhere(const std::string& job) const {
  if (options_.elsewhere && options_.elsewhere(job)) return true;
  return options_.pods_elsewhere && pod_tasks_ != nullptr && pod_tasks_->IsPods(job);
}

std::span<const std::string_view> AgentsComponent::after() const {
  static constexpr std::string_view kAfter[] = {"kubernetes"};
  return kAfter;
}

absl::StatusOr<std::unique_ptr<Actuator>> AgentsComponent::MakeActuator() { return std::move(own_hub_); }

absl::Status AgentsComponent::Start() {
  // Set the intake before the port opens, because agents may connect as soon as the port is open.
  hub_->SetIntake(&context_.control->agents());
  AgentListener* listener = hub_;
  if (options_.pods.has_value()) {
    pod_tasks_ = std::make_unique<PodTasks>(
        PodTasks::Options{
            .find = options_.pods->find, .is_synced = options_.pods->is_synced, .steady_s = SteadySeconds},
        hub_);
    listener = pod_tasks_.get();
  }
  absl::StatusOr<std::unique_ptr<ReopenedAgentServer>> port =
      ReopenedAgentServer::Start(options_.config, listener);
  if (!port.ok()) return port.status();
  port_ = *std::move(port);
  AgentServer* server = port_.get();
  if (pod_tasks_ != nullptr) {
    pod_tasks_->SetServer(server);
    server = pod_tasks_.get();
  }
  hub_->SetServer(server);
  context_.control->OnTick([this](const TickEvents& events) {
    for (const SettingChange& change : events.settings) hub_->OnSettings(change.job);
  });
  context_.log->Info(StrCat("listening for agents on port ", port_->port()));
  return absl::OkStatus();
}

void AgentsComponent::OnReload(Reloading& reload) {
  hub_->OnSettings("");
  constexpr std::string_view kPart = "tokens and certificates of agents";
  const absl::StatusOr<bool> again = port_->Reload(reload.next.agents);
  if (!again.ok()) return reload.Keep(kPart, {"agents", "agents.tls"}, again.status());
  reload.Take(kPart, {"agents", "agents.tls"});
  if (*again) {
    context_.log->Act(LogLevel::kInfo, "agents_port_reopened",
                      {{"reason", "its tokens or certificates changed"}});
  }
}

void AgentsComponent::Stop() {
  if (port_ != nullptr) port_->Stop();
}

AgentHubCounts AgentsComponent::counts() const {
  AgentHubCounts counts = hub_->counts();
  const PodTasksCounts pods = pod_tasks_ == nullptr ? PodTasksCounts() : pod_tasks_->pod_counts();
  counts.unknown_containers = pods.waiting;
  counts.dropped_of_containers = pods.dropped;
  return counts;
}

void AgentsComponent::Collect(MetricsText& out) const {
  PutAgentMetrics(counts(), out);
  PutAgentPortMetrics(port_->counts(), out);
  PutNeeded(hub_->MemoryNeeded(), out);
  PutAgentTimes(hub_->Agents().known, static_cast<double>(context_.now().us) / 1e6, out);
}

}  // namespace taut::server
