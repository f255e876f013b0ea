// The oom_score_adj of one task's processes: which of them get the value of its tier, and what each had before,
// those that inherited the agent's value too. Arithmetic only: the caller reads, records and writes.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "common/model/tier.h"
#include "node/agent/process_table.h"

namespace taut::node {

// What must be known to undo it.
struct OomScoreRecord {
  int set = 0;                      // by the agent
  int owner = 0;                    // what processes with `set` had before, but for these:
  std::map<ProcessId, int> others;  // what they had

  bool operator==(const OomScoreRecord&) const = default;
  int OwnerOf(const ProcessId& process) const;
};

// Not thread-safe.
class OomScores {
 public:
  // Processes of production and monitoring get at most `set`, others at least.
  OomScores(Tier tier, int set) : set_(set), lowers_(IsProduction(tier)) {}

  int set() const { return set_; }
  // What an earlier start of the agent recorded. REQUIRES: record.set == set().
  void Restore(const OomScoreRecord& record) { record_ = record; }
  bool Knows(int pid) const { return processes_.contains(pid); }
  // Processes that Knows denies, ascending by pid. Returns those that are to get set(), after record() is stored.
  std::vector<ProcessId> Take(std::span<const ProcessReading> fresh);
  // Forgets all that are not among these, ascending. Returns those that had set() from the agent, with what they
  // had before: they have ended, or left the task.
  std::vector<std::pair<ProcessId, int>> Keep(std::span<const int> pids);
  // Absent: nothing was ever set.
  const std::optional<OomScoreRecord>& record() const { return record_; }

 private:
  struct Known {
    ProcessId id;
    int owner = 0;
    bool is_ours = false;  // it has set() from the agent
  };
  // Of one that has set(): inherited, or given by an earlier start.
  int InheritedOwner(const ProcessReading& facts) const;
  void NoteOwner(const Known& known);

  int set_;
  bool lowers_;
  std::map<int, Known> processes_;  // by pid
  std::optional<OomScoreRecord> record_;
};

}  // namespace taut::node
