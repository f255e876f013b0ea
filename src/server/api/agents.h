// Writes the list of node agents as JSON.
#pragma once

#include <span>

#include "common/base/json_writer.h"
#include "server/agents/agent_hub.h"

namespace taut::server {

// Writes an AgentPage. `enabled` is true if the daemon accepts agents.
void PutAgents(const AgentList& agents, bool enabled, JsonWriter& json);

}  // namespace taut::server
