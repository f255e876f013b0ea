// Selects the processes of one task that get the oom_score_adj of their tier. Stores the earlier value of each
// process, also of processes that inherited the agent's value. Arithmetic only: the caller reads, records and
// writes.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "common/model/tier.h"
#include "node/agent/process_table.h"

namespace taut::node {

// The data for restoring the earlier values.
struct OomScoreRecord {
  int set = 0;                      // value that the agent set
  int owner = 0;                    // earlier value of processes that are not in `others`
  std::map<ProcessId, int> others;  // earlier values that differ from `owner`

  bool operator==(const OomScoreRecord&) const = default;
  int OwnerOf(const ProcessId& process) const;
};

// Not thread-safe.
class OomScores {
 public:
  // Processes of production and monitoring get at most the value `set`, and other processes at least `set`.
  OomScores(Tier tier, int set) : set_(set), lowers_(IsProduction(tier)) {}

  int set() const { return set_; }
  // Loads the record of an earlier run of the agent. REQUIRES: record.set == set().
  void Restore(const OomScoreRecord& record) { record_ = record; }
  bool Knows(int pid) const { return processes_.contains(pid); }
  // Adds processes that Knows() does not know, ascending by pid. Returns the processes whose value the caller
  // must change to set(), after it has saved record().
  std::vector<ProcessId> Take(std::span<const ProcessReading> fresh);
  // Deletes all processes that are not in `pids` (ascending): they ended or left the task. Returns the deleted
  // processes with the agent's value set(), and their earlier values.
  std::vector<std::pair<ProcessId, int>> Keep(std::span<const int> pids);
  // Returns the earlier values of the processes; absent if nothing was ever set.
  const std::optional<OomScoreRecord>& record() const { return record_; }

 private:
  struct Known {
    ProcessId id;
    int owner = 0;
    bool is_ours = false;  // true if the agent wrote set() or the process inherited the agent's value
  };
  // Returns the earlier value of a process that already has the value set(), inherited or written by an earlier
  // run of the agent.
  int InheritedOwner(const ProcessReading& facts) const;
  void NoteOwner(const Known& known);

  int set_;
  bool lowers_;
  std::map<int, Known> processes_;  // keyed by pid
  std::optional<OomScoreRecord> record_;
};

}  // namespace taut::node
