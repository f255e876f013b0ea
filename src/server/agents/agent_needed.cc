// Memory needs that agents found by probing, from the last window of each agent.
#include <algorithm>

#include "server/agents/agent_hub.h"
#include "server/agents/machine_bounds.h"

namespace taut::server {
namespace {

constexpr double kHeardS = 3600;

void Add(double bytes, int32_t window, NeededMemory& sum) {
  sum.bytes = std::max(sum.bytes, bytes);
  ++sum.tasks;
  sum.window_end_s = std::max(sum.window_end_s, WindowId{window}.next().start_s());
}

}  // namespace

// A window may arrive in two messages, of which the later has more tasks. Older windows are ignored.
void AgentHub::NoteNeeded(Agent& agent, const taut::agent::v1::Windows& windows) {
  if (windows.window() < agent.needed_window) return;
  if (windows.window() > agent.needed_window) agent.needed.clear();
  agent.needed_window = windows.window();
  for (const auto& task : windows.tasks()) {
    if (!task.has_memory_needed_bytes() || !FitsMachine(task, agent.hello)) continue;
    agent.needed[{task.name().job(), task.name().task()}] = static_cast<double>(task.memory_needed_bytes());
  }
}

std::map<std::string, NeededMemory> AgentHub::MemoryNeeded(std::optional<std::string_view> of_job) const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, NeededMemory> out;
  for (const auto& [name, agent] : agents_) {
    if (options_.steady_s() - agent.heard_s > kHeardS) continue;
    auto it =
        of_job.has_value() ? agent.needed.lower_bound({std::string(*of_job), ""}) : agent.needed.begin();
    for (; it != agent.needed.end() && it->first.first == of_job.value_or(it->first.first); ++it) {
      if (agents_by_task_.MayReport(name, it->first, options_.steady_s()))
        Add(it->second, agent.needed_window, out[it->first.first]);
    }
  }
  return out;
}

}  // namespace taut::server
