// Settings of the listener for agents.
#pragma once

#include <string>
#include <vector>

namespace taut::server {

// Listener for agents (src/server/agents/agent_server.h).
struct AgentsConfig {
  std::vector<std::string> listen;  // listen addresses; empty: disabled
  std::string tokens_file, certificate_file, key_file, client_ca_file;
};

}  // namespace taut::server
