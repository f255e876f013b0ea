// Metrics of the agents.
#pragma once

#include <map>
#include <span>
#include <string>

#include "common/base/metrics_text.h"
#include "server/agents/agent_hub.h"

namespace taut::server {

// Time of each agent's last message, of the first 2,000 agents by name.
void PutAgentTimes(std::span<const AgentView> agents, double now_s, MetricsText& out);
void PutAgentMetrics(const AgentHubCounts& counts, MetricsText& out);
void PutAgentPortMetrics(const AgentServerCounts& counts, MetricsText& out);
// Memory needs by job, as agents have probed them; of 2,000 jobs at most.
void PutNeeded(const std::map<std::string, NeededMemory>& all, MetricsText& out);

}  // namespace taut::server
