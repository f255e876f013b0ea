// Release: restores the owner's value of every limit that the agent set and that is still in force.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "node/agent/ledger.h"
#include "node/agent/process_table.h"
#include "node/agent/task_group.h"

namespace taut::node {

enum class Whereabouts : uint8_t {
  kThere,     // the task runs
  kAsleep,    // a stopped container, which keeps its limits until it is started again
  kNotKnown,  // the source (Docker) cannot be queried now
  kGone
};
// Returns the whereabouts of a task with changed limits, whether or not a rule still matches the task.
Whereabouts WhereIs(const std::string& identity, const LedgerEntry& entry,
                    std::span<TaskFinder* const> finders);

struct Released {
  std::string job, task, text;  // "memory.max 67108864 -> none", or the reason of a failure
  bool ok = true;
};

// Restores the earlier value of the task's processes that have the agent's oom_score_adj, except processes in the
// groups `leave_out` (TaskGroup::Pids). Returns the number of changed processes, or the first refusal after all
// processes were tried.
absl::StatusOr<int> ReleaseScores(const OomScoreRecord& scores, TaskGroup& group,
                                  const std::set<std::string_view>& leave_out, ProcessTable& processes);

// Restores all entries of the ledger and saves it. Entries that could not be restored stay for a retry;
// entries of tasks that no longer exist are deleted. A limit that another program has changed since is left
// unchanged.
std::vector<Released> Release(Ledger& ledger, std::span<TaskFinder* const> finders, ProcessTable& processes);

}  // namespace taut::node
