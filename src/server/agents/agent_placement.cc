// AgentHub: the machines of agents, and the tasks that run on these machines.
#include "server/agents/agent_hub.h"

namespace taut::server {

std::vector<PlacedMachine> AgentHub::Placement() const {
  const std::lock_guard lock(mutex_);
  std::vector<PlacedMachine> out;
  for (const auto& [name, agent] : agents_) {
    const std::set<AgentTable::Name>& tasks = agents_by_task_.TasksOfAgent(name);
    // The tasks of an agent that was restored after a restart are unknown until the agent reconnects.
    if (agent.session == 0 && tasks.empty()) continue;
    PlacedMachine& machine = out.emplace_back();
    machine.name = name;
    machine.ready = agent.session != 0;
    if (agent.hello.cores() > 0) machine.capacity[0] = agent.hello.cores();
    if (agent.hello.memory_bytes() > 0) machine.capacity[1] = static_cast<double>(agent.hello.memory_bytes());
    for (const auto& [job, task] : tasks) {
      PlacedTask& placed = machine.tasks.emplace_back();
      placed.job = job;
      placed.task = task;
      placed.limits_measured = true;
    }
  }
  return out;
}

}  // namespace taut::server
