// Release: every limit that the agent set and that is still in force becomes its owner's again.
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
  kThere,
  kAsleep,    // a stopped container, which keeps its limits until it is started again
  kNotKnown,  // the source (Docker) cannot be asked now
  kGone
};
// Of a task that was changed, whether a rule still finds it or not.
Whereabouts WhereIs(const std::string& identity, const LedgerEntry& entry,
                    std::span<TaskFinder* const> finders);

struct Released {
  std::string job, task, text;  // "memory.max 67108864 -> none", or why not
  bool ok = true;
};

// Gives the processes of a task that have the agent's oom_score_adj what they had before, but for those in groups
// to be left out (TaskGroup::Pids). Returns how many were changed, or the first refusal after it tried them all.
absl::StatusOr<int> ReleaseScores(const OomScoreRecord& scores, TaskGroup& group,
                                  const std::set<std::string_view>& leave_out, ProcessTable& processes);

// What cannot be given back stays in the ledger for another try; what is gone needs nothing. A limit that
// another program has changed since stays as it is.
std::vector<Released> Release(Ledger& ledger, std::span<TaskFinder* const> finders, ProcessTable& processes);

}  // namespace taut::node
