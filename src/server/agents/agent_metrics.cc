#include "server/agents/agent_metrics.h"

#include <algorithm>

namespace taut::server {

void PutAgentTimes(std::span<const AgentView> agents, double now_s, MetricsText& out) {
  constexpr size_t kMost = 2000;
  for (const AgentView& a : agents.first(std::min(agents.size(), kMost))) {
    out.Gauge("tautd_agent_last_heard_timestamp_seconds",
              "Time of the agent's last message; of 2,000 agents at most.", now_s - a.heard_s,
              {{"agent", a.name}});
  }
}

void PutAgentPortMetrics(const AgentServerCounts& counts, MetricsText& out) {
  out.Counter(
      "tautd_agent_connections_total",
      "Connections accepted on the agents' port; those without a stream failed in TLS or sent nothing.",
      counts.connections);
  out.Counter("tautd_agent_connections_refused_total",
              "Connections refused on the agents' port: too many in all or from one address.",
              counts.rejected_connections);
  const auto streams = [&](std::string_view result, uint64_t n) {
    out.Counter("tautd_agent_streams_total",
                "Streams opened by agents: accepted, or refused for want of a token, a hello or room.", n,
                {{"result", result}});
  };
  streams("accepted", counts.accepted);
  streams("refused", counts.refused);
  out.Counter("tautd_agent_streams_cut_off_total", "Streams ended because the agent did not read.",
              counts.cut_off);
}

void PutAgentMetrics(const AgentHubCounts& counts, MetricsText& out) {
  const auto agents = [&](std::string_view state, uint64_t n) {
    out.Gauge("tautd_agents", "Known agents, by state.", static_cast<double>(n), {{"state", state}});
  };
  agents("connected", counts.connected);
  agents("disconnected", counts.agents - counts.connected);
  out.Gauge("tautd_agent_tasks", "Tasks of all agents.", static_cast<double>(counts.tasks));
  out.Counter("tautd_agent_windows_total", "Windows received from agents.", counts.windows);
  out.Counter("tautd_agent_task_windows_total", "Windows received from agents, per task.",
              counts.task_windows);
  out.Counter("tautd_agent_repeated_messages_total", "Messages of agents received twice.", counts.repeats);
  out.Counter("tautd_agent_refused_total",
              "Messages, tasks and windows of agents that were invalid or rejected.", counts.refused);
  out.Counter("tautd_agent_refused_streams_total",
              "Connections rejected because the name belongs to another agent.", counts.refused_agents);
  out.Counter("tautd_agent_not_believed_total",
              "Tasks, windows and OOM kills rejected: another agent's task, or above the machine's size.",
              counts.not_believed);
  out.Gauge("tautd_agent_unknown_containers",
            "Containers of agents that no pod of the cluster is known to have.",
            static_cast<double>(counts.unknown_containers));
  out.Counter("tautd_agent_unknown_containers_dropped_total",
              "Windows and OOM kills of such containers, which were dropped.", counts.dropped_of_containers);
  out.Counter("tautd_agent_orders_total", "Limits ordered, per task.", counts.orders);
  const auto outcomes = [&](std::string_view result, uint64_t n) {
    out.Counter("tautd_agent_outcomes_total", "Outcomes of ordered limits, per task.", n,
                {{"result", result}});
  };
  outcomes("applied", counts.applied);
  outcomes("failed", counts.failed);
  out.Counter("tautd_agent_oom_kills_total", "OOM kills reported by agents.", counts.ooms);
  out.Gauge("tautd_agent_unacknowledged_messages", "Messages of agents received but not stored yet.",
            static_cast<double>(counts.unacknowledged));
  const auto seconds = [&](std::string_view statistic, double ms) {
    out.Gauge("tautd_order_seconds",
              "From sending an order to a task's first answer, over the last thousand answers; without tasks "
              "whose agents were disconnected.",
              ms / 1000, {{"statistic", statistic}});
  };
  if (counts.slowest_order_ms <= 0) return;  // no task has reported an outcome yet
  seconds("slowest", counts.slowest_order_ms);
  seconds("mean", counts.mean_order_ms);
}

void PutNeeded(const std::map<std::string, NeededMemory>& all, MetricsText& out) {
  constexpr size_t kMost = 2000;
  size_t count = 0;
  for (const auto& [job, needed] : all) {
    if (++count > kMost) return;
    out.Gauge(
        "tautd_job_memory_needed_bytes",
        "Memory that the job's task with the largest need needs, as agents probed it; of 2,000 jobs at most.",
        needed.bytes, {{"job", job}});
  }
}

}  // namespace taut::server
