#include "server/api/agents.h"

#include <algorithm>

namespace taut::server {
namespace {

void PutCount(std::string_view key, uint64_t count, JsonWriter& json) {
  json.Field(key, static_cast<int64_t>(count));
}

void PutFailure(const FailedOrder& f, JsonWriter& json) {
  json.BeginObject();
  json.Field("time", f.time_s);
  PutCount("decision", f.decision, json);
  json.Field("job", std::string_view(f.job));
  json.Field("task", std::string_view(f.task));
  json.Field("resource", Name(f.resource));
  json.Field("text", std::string_view(f.text));
  json.EndObject();
}

void PutAgent(const AgentView& a, JsonWriter& json) {
  json.BeginObject();
  json.Field("name", std::string_view(a.name));
  json.Field("host", std::string_view(a.host));
  json.Field("version", std::string_view(a.version));
  json.Field("hands", std::string_view(a.hands));
  json.Field("connected", a.connected);
  json.Field("observes", a.observes);
  json.Field("cores", a.cores);
  json.Key("memory_bytes");
  json.Number(a.memory_bytes, 15);
  PutCount("tasks", a.tasks, json);
  PutCount("managed_tasks", a.managed_tasks, json);
  json.Field("heard_seconds_ago", a.heard_s);
  PutCount("queued_bytes", a.queued_bytes, json);
  PutCount("dropped_messages", a.dropped, json);
  json.Field("cpu_share_cores", a.cpu_share);
  PutCount("resident_bytes", a.resident_bytes, json);
  PutCount("windows", a.windows, json);
  PutCount("oom_kills", a.ooms, json);
  PutCount("applied", a.applied, json);
  PutCount("failed", a.failed, json);
  PutCount("not_believed", a.not_believed, json);
  json.Key("failures");
  json.BeginArray();
  for (const FailedOrder& f : a.failures) PutFailure(f, json);
  json.EndArray();
  json.EndObject();
}

}  // namespace

void PutAgents(std::span<const AgentView> agents, std::span<const RefusedAgent> refused, bool enabled,
               JsonWriter& json) {
  json.BeginObject();
  json.Field("enabled", enabled);
  json.Key("agents");
  json.BeginArray();
  for (const AgentView& a : agents) PutAgent(a, json);
  json.EndArray();
  json.Key("refused");
  json.BeginArray();
  for (const RefusedAgent& r : refused) {
    json.BeginObject();
    json.Field("time", r.time_s);
    json.Field("name", std::string_view(r.name));
    json.Field("host", std::string_view(r.host));
    json.Field("why", std::string_view(r.why));
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

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
              "Tasks, windows and OOM kills rejected: of another agent's task or above the machine's size.",
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
  if (counts.slowest_order_ms <= 0) return;  // no task has answered yet
  seconds("slowest", counts.slowest_order_ms);
  seconds("mean", counts.mean_order_ms);
}

}  // namespace taut::server
