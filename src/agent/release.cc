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
    out.push_back({entry.job, entry.task, done ? "is gone" : std::string(Message(limits.status())), done});
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

// The task of this identity, whoever knows how to open it: also one that no rule finds any more. NotFound: it
// is gone.
absl::StatusOr<std::unique_ptr<TaskGroup>> OpenByIdentity(const std::string& identity,
                                                          const LedgerEntry& entry,
                                                          std::span<TaskFinder* const> finders) {
  FoundTask task;
  task.identity = identity;
  task.job = entry.job;
  task.task = entry.task;
  absl::Status why = absl::NotFoundError("is gone");
  for (TaskFinder* finder : finders) {
    absl::StatusOr<std::unique_ptr<TaskGroup>> group = finder->Open(task);
    if (group.ok()) return group;
    const bool not_its_own = group.status().code() == absl::StatusCode::kNotFound ||
                             group.status().code() == absl::StatusCode::kInvalidArgument;
    if (!not_its_own) why = group.status();
  }
  return why;
}

}  // namespace

std::vector<Released> Release(Ledger& ledger, std::span<TaskFinder* const> finders) {
  std::vector<Released> out;
  const std::map<std::string, LedgerEntry> entries = ledger.entries();
  for (const auto& [identity, entry] : entries) {
    bool done = true;
    const absl::StatusOr<std::unique_ptr<TaskGroup>> group = OpenByIdentity(identity, entry, finders);
    if (group.ok()) {
      ReleaseTask(entry, **group, out, done);
    } else {
      done = group.status().code() == absl::StatusCode::kNotFound;
      out.push_back({entry.job, entry.task, std::string(Message(group.status())), done});
    }
    if (done) ledger.Forget(identity);
  }
  if (const absl::Status s = ledger.Save(); !s.ok()) out.push_back({"", "", std::string(Message(s)), false});
  return out;
}

}  // namespace taut
