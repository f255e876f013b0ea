// Sets processes' oom_score_adj by tier, in case the guard of memory is too slow, and reports kills by a
// limit above a task.
#include <algorithm>

#include "common/base/strings.h"
#include "common/model/units.h"
#include "node/agent/agent.h"
#include "node/agent/messages.h"
#include "node/agent/release.h"

namespace taut::node {
namespace {

constexpr std::string_view kAboutScores = "tiers, oom_score_adj";
// Longest time from the moment at which a task meets a limit to the kernel's count of the resulting kill.
constexpr int64_t kLimitMetUs = 5 * kMicrosPerSecond;
constexpr double kNearLimit = 0.9;

}  // namespace

bool Agent::MayBeScored(const AgentTask& task) const {
  if (options_.observe || parts_.processes == nullptr || !options_.tiers.scores() || !task.rule->manage) {
    return false;
  }
  const std::string_view path = task.group->cgroup_path();
  return path != "/" && std::none_of(options_.own_groups.begin(), options_.own_groups.end(),
                                     [path](const std::string& own) { return IsWithin(own, path); });
}

std::set<std::string_view> Agent::GroupPaths() const {
  std::set<std::string_view> out;
  for (const auto& [id, task] : tasks_) out.insert(task->group->cgroup_path());
  return out;
}

void Agent::ScoreProcesses(AgentTask& task, const std::set<std::string_view>& paths) {
  const LedgerEntry* entry = parts_.ledger->Find(task.found.identity);
  const bool has_record = entry != nullptr && entry->scores.has_value();
  const int set = options_.tiers.oom_score_adj[static_cast<size_t>(task.tier.tier)];
  const bool may = MayBeScored(task);
  // The ledger may hold scores from an earlier run of the agent with another configuration: release them.
  if (has_record && (!may || entry->scores->set != set)) ReleaseScoresOf(task, paths);
  if (!may) return;
  if (!task.scores.has_value()) {
    task.scores.emplace(task.tier.tier, set);
    if (entry = parts_.ledger->Find(task.found.identity); entry != nullptr && entry->scores.has_value()) {
      task.scores->Restore(*entry->scores);
    }
  }
  // Process 1 keeps its oom_score_adj: the end of process 1 would stop the machine.
  constexpr int kInit = 1;
  const std::vector<int> pids = task.group->Pids(paths);
  std::vector<ProcessReading> fresh;
  // Only new processes are read: a process whose value was set keeps it, and its children inherit it.
  for (const int pid : pids) {
    if (pid == kInit || task.scores->Knows(pid)) continue;
    if (const std::optional<ProcessReading> facts = parts_.processes->Read(pid)) fresh.push_back(*facts);
  }
  const std::vector<std::pair<ProcessId, int>> left = task.scores->Keep(pids);
  const std::vector<ProcessId> to_set = task.scores->Take(fresh);
  // The record is saved before the first write (SetScores): otherwise a killed agent could not undo the writes.
  parts_.ledger->SetScores(task.found, task.scores->record());
  RestoreLeavers(left, set);
  if (!to_set.empty()) SetScores(task, to_set);
}

void Agent::SetScores(AgentTask& task, const std::vector<ProcessId>& processes) {
  if (!SaveLedger()) {
    task.scores.reset();  // processes are read anew with the next call
    return;
  }
  absl::Status refused;
  for (const ProcessId& process : processes) {
    const absl::Status s = parts_.processes->SetOomScoreAdj(process, task.scores->set());
    if (!s.ok() && !absl::IsNotFound(s)) refused = s;
  }
  if (refused.ok()) return;
  errors_[std::string(kAboutScores)] = StrCat(task.found.job, " / ", task.found.task, ": ", Message(refused));
}

void Agent::RestoreLeavers(const std::vector<std::pair<ProcessId, int>>& left, int set) {
  for (const auto& [process, owner] : left) {
    const std::optional<ProcessReading> facts = parts_.processes->Read(process.pid);
    if (!facts.has_value() || facts->id != process || facts->oom_score_adj != set) continue;
    // The process is no longer in a task: ignore an error.
    (void)parts_.processes->SetOomScoreAdj(process, owner);
  }
}

void Agent::ReleaseScoresOf(AgentTask& task, const std::set<std::string_view>& paths) {
  task.scores.reset();
  const LedgerEntry* entry = parts_.ledger->Find(task.found.identity);
  if (options_.observe || parts_.processes == nullptr || entry == nullptr || !entry->scores.has_value())
    return;
  const absl::StatusOr<int> changed = ReleaseScores(*entry->scores, *task.group, paths, *parts_.processes);
  if (changed.ok()) return parts_.ledger->SetScores(task.found, std::nullopt);
  errors_[std::string(kAboutScores)] =
      StrCat(task.found.job, " / ", task.found.task, ": ", Message(changed.status()));
}

// ---- limits above a task ----

void Agent::ReadAbove(AgentTask& task, const NodeTime& now) {
  std::vector<GroupAbove> above = task.group->ReadAbove();
  // Compare the lowest limits, not the lists: a new group above a task matters only if its limit is lower.
  std::swap(task.above, above);
  bool is_other = false;
  for (const Resource r : kResources) {
    const GroupAbove *before = LeastAbove(above, r), *after = LeastAbove(task.above, r);
    const auto limit = r == Resource::kCpu ? &GroupAbove::cpu_max_cores : &GroupAbove::memory_max_bytes;
    const bool same =
        (before == nullptr) == (after == nullptr) && (before == nullptr || before->*limit == after->*limit);
    if (same) continue;
    task.of(r).limit_since = now.at;
    is_other = true;
  }
  const auto it = by_identity_.find(task.found.identity);
  if (is_other && it != by_identity_.end()) fresh_.push_back(it->second);
}

bool Agent::NoteLimitOoms(AgentTask& task, const TaskReading& reading, const NodeTime& now) {
  const bool was_read = task.oom_kills.has_value();
  const std::optional<uint64_t> before = std::exchange(task.limit_ooms, reading.limit_ooms);
  if (was_read && reading.limit_ooms.value_or(0) > before.value_or(0)) task.limit_met_us = now.steady_us;
  return now.steady_us - task.limit_met_us <= kLimitMetUs;
}

bool Agent::MayBeOwnKill(const AgentTask& task, const TaskReading& reading) const {
  // Read the groups again: the counter of the group whose limit was met rose with this kill.
  for (const GroupAbove& group : task.group->ReadAbove()) {
    const auto before = std::ranges::find(task.above, group.path, &GroupAbove::path);
    if (before != task.above.end() && group.limit_ooms.value_or(0) > before->limit_ooms.value_or(0))
      return false;
  }
  if (!reading.memory_peak_bytes.has_value()) return true;
  const LimitValue& own = task.in_force.memory_max_bytes;
  return own.has_value() && static_cast<double>(*reading.memory_peak_bytes) >= kNearLimit * *own;
}

void Agent::OnKernelKill(AgentTask& task, uint64_t kills, const NodeTime& now) {
  const std::vector<GroupAbove> before = std::exchange(task.above, task.group->ReadAbove());
  const auto ooms_before = [&before](const std::string& path) {
    const auto it =
        std::find_if(before.begin(), before.end(), [&](const GroupAbove& g) { return g.path == path; });
    return it == before.end() ? std::optional<uint64_t>() : it->limit_ooms;
  };
  std::string at = "for want of the machine's memory";
  // The nearest group whose counter rose counts as the cause.
  for (const GroupAbove& group : task.above) {
    const std::optional<uint64_t> was = ooms_before(group.path);
    if (!group.memory_max_bytes.has_value() || !was.has_value() || group.limit_ooms.value_or(0) <= *was)
      continue;
    at = StrCat("at the limit of cgroup ", group.path, " above it (", FormatBytes(*group.memory_max_bytes),
                ")");
    break;
  }
  ++counts_.ooms;
  const LimitValue& own = task.in_force.memory_max_bytes;
  const GuardFigures figures = FiguresOf(task);
  taut::agent::v1::TierAct said =
      ActOf(TierActKind::kKernelKill, task, figures,
            StrCat("the kernel killed ", kills, kills == 1 ? " process " : " processes ", at,
                   own.has_value() ? StrCat(", not at its own of ", FormatBytes(*own)) : std::string(),
                   "; no limit is raised"),
            now);
  said.set_observed(false);  // kernel kills happen in observe mode too
  ReportAct(said, task, figures);
  acts_.back().kills = kills;
}

}  // namespace taut::node
