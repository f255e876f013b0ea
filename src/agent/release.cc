#include "agent/release.h"

#include "agent/messages.h"
#include "base/strings.h"

namespace taut {
namespace {

std::string Text(std::optional<double> limit) { return limit.has_value() ? StrCat(*limit) : "none"; }

// What came of one task; `done`: nothing is left to give back.
void ReleaseTask(const LedgerEntry& entry, TaskGroup& group, std::vector<Released>& out, bool& done) {
  const absl::StatusOr<TaskLimits> limits = group.ReadLimits();
  if (!limits.ok()) {
    done = limits.status().code() == absl::StatusCode::kNotFound;
    if (!done) out.push_back({entry.job, entry.task, std::string(Message(limits.status())), false});
    return;
  }
  // Room first: the hard memory limit before the soft one goes up.
  for (const auto& [kind, value] : entry.values) {
    const std::optional<double>& has = limits->of(kind);
    if (SameLimit(kind, has, value.owner)) continue;
    if (!SameLimit(kind, has, value.set)) {
      out.push_back({entry.job, entry.task,
                     StrCat(Name(kind), " ", Text(has), " was set by somebody else and stays"), true});
      continue;
    }
    const absl::Status s = group.SetLimit(kind, value.owner);
    done &= s.ok();
    const std::string change = StrCat(Name(kind), " ", Text(has), " -> ", Text(value.owner));
    out.push_back({entry.job, entry.task, s.ok() ? change : StrCat(change, ": ", Message(s)), s.ok()});
  }
}

}  // namespace

std::vector<Released> Release(Ledger& ledger, std::span<TaskFinder* const> finders) {
  std::vector<Released> out;
  const std::map<std::string, LedgerEntry> entries = ledger.entries();
  bool all_known = true;
  std::map<std::string, std::pair<TaskFinder*, FoundTask>> here;
  for (TaskFinder* finder : finders) {
    const absl::StatusOr<std::vector<FoundTask>> found = finder->Find();
    if (!found.ok()) {
      out.push_back({"", "", StrCat(finder->name(), ": ", Message(found.status())), false});
      all_known = false;
      continue;
    }
    for (const FoundTask& task : *found) here.insert_or_assign(task.identity, std::pair(finder, task));
  }
  for (const auto& [identity, entry] : entries) {
    const auto it = here.find(identity);
    bool done = true;
    if (it == here.end()) {
      done = all_known;
      out.push_back({entry.job, entry.task, all_known ? "is gone" : "was not found", all_known});
    } else {
      const absl::StatusOr<std::unique_ptr<TaskGroup>> group = it->second.first->Open(it->second.second);
      if (group.ok()) {
        ReleaseTask(entry, **group, out, done);
      } else {
        out.push_back({entry.job, entry.task, std::string(Message(group.status())), false});
        done = false;
      }
    }
    if (done) ledger.Forget(identity);
  }
  if (const absl::Status s = ledger.Save(); !s.ok()) out.push_back({"", "", std::string(Message(s)), false});
  return out;
}

}  // namespace taut
