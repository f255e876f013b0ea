// Node agents as JSON and as metrics.
#pragma once

#include <span>

#include "common/base/json_writer.h"
#include "server/agents/agent_hub.h"
#include "server/api/metrics_text.h"

namespace taut::server {

// An AgentPage. `enabled`: the daemon listens to agents.
void PutAgents(std::span<const AgentView> agents, std::span<const RefusedAgent> refused, bool enabled,
               JsonWriter& json);
// When each agent was last heard, of the first 2,000 by name.
void PutAgentTimes(std::span<const AgentView> agents, double now_s, MetricsText& out);
void PutAgentMetrics(const AgentHubCounts& counts, MetricsText& out);
void PutAgentPortMetrics(const AgentServerCounts& counts, MetricsText& out);

}  // namespace taut::server
