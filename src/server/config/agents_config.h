// Settings of the port of agents.
#pragma once

#include <string>
#include <vector>

namespace taut::server {

// Where agents come to (src/server/agents/agent_server.h).
struct AgentsConfig {
  std::vector<std::string> listen;  // empty: no agents
  std::string tokens_file, certificate_file, key_file, client_ca_file;
};

}  // namespace taut::server
