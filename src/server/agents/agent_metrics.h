// Writes the metrics of the agents and of the agents' port.
#pragma once

#include <map>
#include <span>
#include <string>

#include "common/base/metrics_text.h"
#include "server/agents/agent_hub.h"

namespace taut::server {

// Writes the time of each agent's last message, for the first 2,000 agents.
void PutAgentTimes(std::span<const AgentView> agents, double now_s, MetricsText& out);
void PutAgentMetrics(const AgentHubCounts& counts, MetricsText& out);
void PutAgentPortMetrics(const AgentServerCounts& counts, MetricsText& out);
// Writes the memory need of each job, as found by probing, for the first 2,000 jobs by name.
void PutNeeded(const std::map<std::string, NeededMemory>& all, MetricsText& out);

}  // namespace taut::server
