// Node agents as metrics.
#pragma once

#include <map>
#include <span>
#include <string>

#include "common/base/metrics_text.h"
#include "server/agents/agent_hub.h"

namespace taut::server {

// When each agent was last heard, of the first 2,000 by name.
void PutAgentTimes(std::span<const AgentView> agents, double now_s, MetricsText& out);
void PutAgentMetrics(const AgentHubCounts& counts, MetricsText& out);
void PutAgentPortMetrics(const AgentServerCounts& counts, MetricsText& out);
// What tasks need of memory as agents have probed it, by job.
void PutNeeded(const std::map<std::string, NeededMemory>& all, MetricsText& out);

}  // namespace taut::server
