// The connected agents and the tasks that they run. Plain values: no messages, clocks or locks. The caller
// guards the table with its own lock.
//
// A task belongs to the agent that announced it. The task becomes free when this agent reports that the task is
// gone, or has been disconnected for kGraceSeconds. A restart of an agent therefore loses no task. If an agent
// announces a task of another agent, the announcement is kept as a claim. The claim takes effect once the task is
// free (Settle, Drop).
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
  using Name = std::pair<std::string, std::string>;  // names of job and task
  struct Task {
    std::string agent;
    SessionId session = 0;  // stream of the task's agent; 0: the agent is disconnected
    TaskRef ref;
    bool managed = false;
    double left_s = 0;  // steady time at which the task's agent disconnected
  };
  static constexpr double kGraceSeconds = 120;

  // Makes `session` the agent's stream.
  void Connect(const std::string& agent, SessionId session) { agents_[agent].session = session; }
  // Starts the grace period of the agent's tasks. `now_s`, here and below: seconds of one steady clock.
  void Disconnect(const std::string& agent, double now_s);
  // Records that an agent runs a task. Returns false if another agent has the task; the announcement is then
  // kept as a claim. At most 10,000 claims are kept.
  bool Announce(const Name& name, const Task& task, double now_s);
  // Assigns each free task to the agent that claims it.
  void Settle(double now_s);
  // Removes the agent's task, or its claim. Returns false if the task did not belong to the agent. If another
  // agent claims the task, the claim takes effect.
  bool Drop(const std::string& agent, const Name& name);

  // Returns true if this agent may report on the task: the task belongs to this agent or is free.
  bool MayReport(const std::string& agent, const Name& name, double now_s) const;
  bool IsManaged(const Name& name) const;
  const Task* Find(const Name& name) const;  // Returns the task; null if no agent announced it.
  // Returns the job's tasks by name; empty if the job has no tasks. Valid until the next change.
  const std::map<std::string, Task>& TasksOfJob(const std::string& job) const;
  const std::set<Name>& TasksOfAgent(const std::string& agent) const;

  // ---- tasks whose terms and orders are still to be sent ----
  const std::set<Name>& unsent() const { return unsent_; }
  void MarkSent(const Name& name) { unsent_.erase(name); }
  // Marks the tasks of the job, so that their terms and orders are sent again. "": all jobs. O(tasks).
  void MarkUnsent(const std::string& job);

 private:
  struct Agent {
    SessionId session = 0;  // stream of the agent; 0: disconnected
    std::set<Name> tasks;
  };
  // Returns true if no agent has the task, or its agent has been disconnected for kGraceSeconds.
  bool IsFree(const Name& name, double now_s) const;
  void GiveToClaimant(const Name& name);
  void EraseOf(const std::string& agent, const Name& name);

  std::map<std::string, Agent> agents_;  // agents by name
  absl::flat_hash_map<std::string, std::map<std::string, Task>> jobs_;
  std::map<Name, Task> claims_;
  std::set<Name> unsent_;
};

}  // namespace taut::server
