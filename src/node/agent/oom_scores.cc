#include "node/agent/oom_scores.h"

#include <algorithm>

namespace taut::node {

int OomScoreRecord::OwnerOf(const ProcessId& process) const {
  const auto it = others.find(process);
  return it == others.end() ? owner : it->second;
}

// The value set() of a process may be inherited from its parent, or written by an earlier run of the agent or by
// its owner. The record distinguishes these cases.
int OomScores::InheritedOwner(const ProcessReading& facts) const {
  if (record_->others.contains(facts.id)) return record_->OwnerOf(facts.id);
  const auto parent = processes_.find(facts.parent);
  return parent == processes_.end() ? record_->owner : parent->second.owner;
}

void OomScores::NoteOwner(const Known& known) {
  if (known.owner != record_->owner) record_->others[known.id] = known.owner;
}

std::vector<ProcessId> OomScores::Take(std::span<const ProcessReading> fresh) {
  std::vector<ProcessId> out;
  for (const ProcessReading& facts : fresh) {
    Known known{facts.id, facts.oom_score_adj, false};
    if (facts.oom_score_adj == set_) {
      known.is_ours = record_.has_value();
      if (known.is_ours) known.owner = InheritedOwner(facts);
      // Values change in one direction only: a process whose owner set a stronger value keeps this value.
    } else if ((facts.oom_score_adj > set_) == lowers_) {
      known.is_ours = true;
      if (!record_.has_value()) record_ = OomScoreRecord{set_, facts.oom_score_adj, {}};
      out.push_back(facts.id);
    }
    processes_[facts.id.pid] = known;
  }
  if (!record_.has_value()) return out;
  for (const auto& [pid, known] : processes_) {
    // Record the owner's value: otherwise a process whose owner chose the same value as set() would later be
    // mistaken for a process that the agent changed.
    if (known.is_ours || known.owner == set_) NoteOwner(known);
  }
  return out;
}

std::vector<std::pair<ProcessId, int>> OomScores::Keep(std::span<const int> pids) {
  std::vector<std::pair<ProcessId, int>> out;
  for (auto it = processes_.begin(); it != processes_.end();) {
    if (std::binary_search(pids.begin(), pids.end(), it->first)) {
      ++it;
      continue;
    }
    const Known& known = it->second;
    if (known.is_ours) out.emplace_back(known.id, known.owner);
    if (record_.has_value()) record_->others.erase(known.id);
    it = processes_.erase(it);
  }
  return out;
}

}  // namespace taut::node
