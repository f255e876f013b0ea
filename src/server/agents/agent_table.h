// Which agent is connected and which tasks it runs. Values only: no messages, clocks or locks; the caller's lock
// guards it.
//
// A task belongs to the agent that announced it, until that agent says that it is gone, or has been disconnected
// for kGraceSeconds and another announces it: a restart of an agent gives its tasks to no one. What an agent
// announces of another's task is kept as a claim, which holds when the task is free (Settle, Drop).
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "common/rpc/session_id.h"
#include "server/control/task_intake.h"

namespace taut::server {

class AgentTable {
 public:
  using Name = std::pair<std::string, std::string>;  // job, task
  struct Task {
    std::string agent;
    SessionId session = 0;  // 0: its agent is disconnected
    TaskRef ref;
    bool managed = false;
    double left_s = 0;  // when its agent disconnected
  };
  static constexpr double kGraceSeconds = 120;

  // The agent's stream is this one from now on.
  void Connect(const std::string& agent, SessionId session) { agents_[agent].session = session; }
  // Its tasks stay its own for kGraceSeconds, and then until another agent announces them. Times are of one
  // steady clock.
  void Disconnect(const std::string& agent, double now_s);
  // False: another agent has the task; the announcement is kept as a claim.
  bool Announce(const Name& name, const Task& task, double now_s);
  // Gives tasks that are free to the agents that claim them.
  void Settle(double now_s);
  // False: the agent did not have the task.
  bool Drop(const std::string& agent, const Name& name);

  // Whether this agent may report for the task: it has the task, or the task is free.
  bool MayReport(const std::string& agent, const Name& name, double now_s) const;
  bool IsManaged(const Name& name) const;
  const Task* Find(const Name& name) const;  // null: no agent has announced it
  // By name.
  const std::map<std::string, Task>& TasksOfJob(const std::string& job) const;
  const std::set<Name>& TasksOfAgent(const std::string& agent) const;

  // ---- tasks that are still to be sent what holds for them ----
  const std::set<Name>& unsent() const { return unsent_; }
  void MarkSent(const Name& name) { unsent_.erase(name); }
  // "": the tasks of all jobs.
  void MarkUnsent(const std::string& job);

 private:
  struct Agent {
    SessionId session = 0;  // 0: disconnected
    std::set<Name> tasks;
  };
  // No agent has it, or one that has been disconnected for long.
  bool IsFree(const Name& name, double now_s) const;
  void GiveToClaimant(const Name& name);
  void EraseOf(const std::string& agent, const Name& name);

  std::map<std::string, Agent> agents_;  // by name
  absl::flat_hash_map<std::string, std::map<std::string, Task>> jobs_;
  std::map<Name, Task> claims_;
  std::set<Name> unsent_;
};

}  // namespace taut::server
