#include "server/agents/agent_table.h"

#include <vector>

namespace taut::server {
namespace {

constexpr size_t kMostClaims = 10'000;

}  // namespace

const AgentTable::Task* AgentTable::Find(const Name& name) const {
  const auto job = jobs_.find(name.first);
  if (job == jobs_.end()) return nullptr;
  const auto task = job->second.find(name.second);
  return task == job->second.end() ? nullptr : &task->second;
}

bool AgentTable::IsFree(const Name& name, double now_s) const {
  const Task* task = Find(name);
  return task == nullptr || (task->session == 0 && now_s - task->left_s >= kGraceSeconds);
}

bool AgentTable::MayReport(const std::string& agent, const Name& name, double now_s) const {
  const Task* task = Find(name);
  return (task != nullptr && task->agent == agent) || IsFree(name, now_s);
}

bool AgentTable::IsManaged(const Name& name) const {
  const Task* task = Find(name);
  return task != nullptr && task->managed;
}

const std::map<std::string, AgentTable::Task>& AgentTable::TasksOfJob(const std::string& job) const {
  static const std::map<std::string, Task> kNone;
  const auto it = jobs_.find(job);
  return it == jobs_.end() ? kNone : it->second;
}

const std::set<AgentTable::Name>& AgentTable::TasksOfAgent(const std::string& agent) const {
  static const std::set<Name> kNone;
  const auto it = agents_.find(agent);
  return it == agents_.end() ? kNone : it->second.tasks;
}

void AgentTable::EraseOf(const std::string& agent, const Name& name) {
  const auto it = agents_.find(agent);
  if (it != agents_.end()) it->second.tasks.erase(name);
}

bool AgentTable::Announce(const Name& name, const Task& task, double now_s) {
  if (!MayReport(task.agent, name, now_s)) {
    if (claims_.size() >= kMostClaims) claims_.erase(claims_.begin());
    claims_[name] = task;
    return false;
  }
  Task& known = jobs_[name.first][name.second];
  // A repeated announcement only changes the values of limits: the task's terms and orders were sent already.
  const bool is_same =
      known.agent == task.agent && known.session == task.session && known.managed == task.managed;
  // Remove the task from its previous agent; otherwise that agent's tasks would include a task of another
  // agent.
  if (known.agent != task.agent) EraseOf(known.agent, name);
  known = task;
  agents_[task.agent].tasks.insert(name);
  if (!is_same) unsent_.insert(name);
  return true;
}

void AgentTable::Disconnect(const std::string& agent, double now_s) {
  const auto it = agents_.find(agent);
  if (it == agents_.end()) return;
  it->second.session = 0;
  for (const Name& name : it->second.tasks) {
    const auto job = jobs_.find(name.first);
    if (job == jobs_.end()) continue;
    const auto task = job->second.find(name.second);
    if (task == job->second.end() || task->second.agent != agent) continue;
    task->second.session = 0;
    task->second.left_s = now_s;
  }
}

void AgentTable::Settle(double now_s) {
  std::vector<Name> free;
  for (const auto& [name, task] : claims_) {
    if (IsFree(name, now_s)) free.push_back(name);
  }
  for (const Name& name : free) GiveToClaimant(name);
}

bool AgentTable::Drop(const std::string& agent, const Name& name) {
  EraseOf(agent, name);
  const auto claim = claims_.find(name);
  if (claim != claims_.end() && claim->second.agent == agent) claims_.erase(claim);
  const auto job = jobs_.find(name.first);
  if (job == jobs_.end()) return false;
  const auto task = job->second.find(name.second);
  // The task belongs to another agent now.
  if (task == job->second.end() || task->second.agent != agent) return false;
  job->second.erase(task);
  unsent_.erase(name);
  if (job->second.empty()) jobs_.erase(job);
  GiveToClaimant(name);
  return true;
}

void AgentTable::GiveToClaimant(const Name& name) {
  const auto claim = claims_.find(name);
  if (claim == claims_.end()) return;
  const Task claimed = claim->second;
  claims_.erase(claim);
  const auto agent = agents_.find(claimed.agent);
  // A claim is valid only for the stream that made the claim: the agent may have restarted without the task.
  if (agent == agents_.end() || agent->second.session != claimed.session || claimed.session == 0) return;
  Task& task = jobs_[name.first][name.second];
  EraseOf(task.agent, name);
  task = claimed;
  agent->second.tasks.insert(name);
  unsent_.insert(name);
}

void AgentTable::MarkUnsent(const std::string& job) {
  for (const auto& [name, tasks] : jobs_) {
    if (!job.empty() && name != job) continue;
    for (const auto& [task, state] : tasks) unsent_.emplace(name, task);
  }
}

}  // namespace taut::server
