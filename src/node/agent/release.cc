#include "node/agent/release.h"

#include <map>
#include <optional>

#include "common/base/strings.h"
#include "node/agent/messages.h"

namespace taut::node {
namespace {

std::string Text(std::optional<double> limit) { return limit.has_value() ? StrCat(*limit) : "none"; }

// Restores the limits of one task. Sets `done` to false if something is left to restore.
void ReleaseTask(const LedgerEntry& entry, TaskGroup& group, std::vector<Released>& out, bool& done) {
  const absl::StatusOr<TaskLimits> limits = group.ReadLimits();
  if (!limits.ok()) {
    done = limits.status().code() == absl::StatusCode::kNotFound;
    out.push_back({entry.job, entry.task, done ? "is gone" : std::string(Message(limits.status())), done});
    return;
  }
  // Values are in the order of LimitKind. The hard memory limit is therefore written before the soft limit: a
  // raised soft limit must not exceed the hard limit.
  for (const auto& [kind, value] : entry.values) {
    const std::optional<double>& has = limits->of(kind);
    // Only a value that equals the owner's counts as restored. A value near the owner's that the agent has set
    // still belongs to the agent.
    if (has == value.owner) continue;
    if (!IsOurs(kind, value, has)) {
      if (SameLimit(kind, has, value.owner)) continue;
      out.push_back({entry.job, entry.task,
                     StrCat(Name(kind), " ", Text(has), " was set by another program and stays"), true});
      continue;
    }
    const absl::Status s = group.SetLimit(kind, value.owner);
    done &= s.ok();
    const std::string change = StrCat(Name(kind), " ", Text(has), " -> ", Text(value.owner));
    out.push_back({entry.job, entry.task, s.ok() ? change : StrCat(change, ": ", Message(s)), s.ok()});
  }
}

void ReleaseScoresOf(const LedgerEntry& entry, TaskGroup& group, ProcessTable& processes,
                     const std::set<std::string_view>& paths, std::vector<Released>& out, bool& done) {
  if (!entry.scores.has_value()) return;
  const absl::StatusOr<int> changed = ReleaseScores(*entry.scores, group, paths, processes);
  const std::string what = StrCat("oom_score_adj ", entry.scores->set, " -> ", entry.scores->owner);
  done &= changed.ok();
  out.push_back({entry.job, entry.task,
                 changed.ok() ? StrCat(what, " (", *changed, " processes)")
                              : StrCat(what, ": ", Message(changed.status())),
                 changed.ok()});
}

struct Opened {
  Whereabouts where = Whereabouts::kGone;
  std::unique_ptr<TaskGroup> group;  // set only for kThere
  std::string why;                   // set for all other whereabouts
};

// Returns the task of this identity from the first finder that can open it, whether or not a rule still matches
// the task.
Opened OpenByIdentity(const std::string& identity, const LedgerEntry& entry,
                      std::span<TaskFinder* const> finders) {
  FoundTask task;
  task.identity = identity;
  task.job = entry.job;
  task.task = entry.task;
  std::optional<Opened> out;
  for (TaskFinder* finder : finders) {
    absl::StatusOr<std::unique_ptr<TaskGroup>> group = finder->Open(task);
    if (group.ok()) return {Whereabouts::kThere, *std::move(group), ""};
    // The identity belongs to another finder.
    if (group.status().code() == absl::StatusCode::kInvalidArgument) continue;
    if (group.status().code() != absl::StatusCode::kNotFound) {
      out = Opened{Whereabouts::kNotKnown, nullptr, std::string(Message(group.status()))};
    } else if (finder->MayReturn(task)) {
      out = Opened{Whereabouts::kAsleep, nullptr, "is not running and keeps its limits; start it and retry"};
    } else if (!out.has_value()) {
      out = Opened{Whereabouts::kGone, nullptr, "is gone"};
    }
  }
  if (out.has_value()) return *std::move(out);
  // The rules for containers were removed, but the container may still exist: its entry stays in the ledger.
  return {Whereabouts::kNotKnown, nullptr,
          "is of a source that no rule reads any more; add a rule for it and retry"};
}

}  // namespace

Whereabouts WhereIs(const std::string& identity, const LedgerEntry& entry,
                    std::span<TaskFinder* const> finders) {
  return OpenByIdentity(identity, entry, finders).where;
}

absl::StatusOr<int> ReleaseScores(const OomScoreRecord& scores, TaskGroup& group,
                                  const std::set<std::string_view>& leave_out, ProcessTable& processes) {
  absl::Status refused;
  int changed = 0;
  for (const int pid : group.Pids(leave_out)) {
    const std::optional<ProcessReading> facts = processes.Read(pid);
    if (!facts.has_value() || facts->oom_score_adj != scores.set) continue;
    const int owner = scores.OwnerOf(facts->id);
    if (owner == scores.set) continue;
    const absl::Status s = processes.SetOomScoreAdj(facts->id, owner);
    changed += s.ok() ? 1 : 0;
    if (!s.ok() && !absl::IsNotFound(s) && refused.ok()) refused = s;
  }
  return refused.ok() ? absl::StatusOr<int>(changed) : refused;
}

std::vector<Released> Release(Ledger& ledger, std::span<TaskFinder* const> finders, ProcessTable& processes) {
  std::vector<Released> out;
  // Iterate over a copy, because Forget changes the ledger's entries.
  const std::map<std::string, LedgerEntry> entries = ledger.entries();
  std::map<std::string_view, Opened> all;
  std::set<std::string_view> paths;
  for (const auto& [identity, entry] : entries) {
    const Opened& opened = all[identity] = OpenByIdentity(identity, entry, finders);
    if (opened.group != nullptr) paths.insert(opened.group->cgroup_path());
  }
  for (const auto& [identity, entry] : entries) {
    bool done = true;
    const Opened& opened = all.at(identity);
    if (opened.where == Whereabouts::kThere) {
      ReleaseTask(entry, *opened.group, out, done);
      ReleaseScoresOf(entry, *opened.group, processes, paths, out, done);
    } else if (opened.where == Whereabouts::kAsleep && entry.values.empty()) {
      // The processes have ended, and their values ended with them.
    } else {
      done = opened.where == Whereabouts::kGone;
      out.push_back({entry.job, entry.task, opened.why, done});
    }
    if (done) ledger.Forget(identity);
  }
  if (const absl::Status s = ledger.Save(); !s.ok()) out.push_back({"", "", std::string(Message(s)), false});
  return out;
}

}  // namespace taut::node
