// Applies the settings of tiers to tasks, and runs the guard of the machine's memory.
#include <algorithm>

#include "common/base/strings.h"
#include "common/model/units.h"
#include "node/agent/agent.h"
#include "node/agent/cpu_weight.h"
#include "node/agent/messages.h"

namespace taut::node {
namespace {

namespace pb = taut::agent::v1;

// Limits that tiers set or that the guard changes.
constexpr LimitKind kTierKinds[] = {LimitKind::kCpuWeight, LimitKind::kMemoryLow, LimitKind::kMemoryMin,
                                    LimitKind::kMemoryHigh};
constexpr std::string_view kAbout = "memory guard";
constexpr std::string_view kNotDone = "observe, not done: ";
// Intervals between readings of the guard: with much and with little free memory, and the lower bound (steady
// time).
constexpr int64_t kCalmUs = 250'000, kNearUs = 100'000, kLeastGuardUs = 10'000;
// Interval between readings of the processes of all tasks that may be killed, while little memory is free.
constexpr int64_t kScoreUs = 2 * kMicrosPerSecond;

}  // namespace

// ---- the settings of a tier ----

int Agent::WeightByTier(const AgentTask& task) const {
  return options_.tiers.cpu_weight[static_cast<size_t>(task.tier.tier)];
}

double Agent::KernelWeight(int weight) const {
  return options_.has_shares ? WeightOfShares(SharesOfTierWeight(weight)) : weight;
}

std::optional<double> Agent::RequestOf(const AgentTask& task) const {
  return task.tier.memory_request.has_value() ? task.tier.memory_request : task.owner.memory_low_bytes;
}

std::optional<LimitValue> Agent::WantedByTier(const AgentTask& task, LimitKind kind) const {
  const MemoryProtection protection = options_.tiers.protect[static_cast<size_t>(task.tier.tier)];
  const std::optional<double> request = RequestOf(task);
  if (kind == LimitKind::kCpuWeight && WeightByTier(task) > 0) {
    return LimitValue(KernelWeight(WeightByTier(task)));
  }
  if (kind == LimitKind::kMemoryMin && protection == MemoryProtection::kMin && request.has_value()) {
    return LimitValue(request);
  }
  if (kind == LimitKind::kMemoryLow && protection == MemoryProtection::kLow) {
    const std::optional<double> amount =
        request.has_value() ? request : LimitOf(*task.rule, Resource::kMemory, task.in_force);
    if (amount.has_value()) return LimitValue(amount);
  }
  return std::nullopt;
}

std::optional<LimitValue> Agent::LeftOver(const AgentTask& task, LimitKind kind) const {
  const LedgerEntry* entry = parts_.ledger->Find(task.found.identity);
  if (entry == nullptr || !entry->values.contains(kind)) return std::nullopt;
  const LedgerValue& value = entry->values.at(kind);
  const std::optional<double>& has = task.in_force.of(kind);
  if (!IsOurs(kind, value, has) || SameLimit(kind, has, value.owner)) return std::nullopt;
  if (kind == LimitKind::kCpuWeight && task.rule->cpu == CpuStyle::kSoft && WeightByTier(task) == 0) {
    return std::nullopt;  // tautd ordered this value
  }
  if (kind != LimitKind::kMemoryHigh || task.rule->memory != MemoryStyle::kSoft) return value.owner;
  // A move to the target is under way.
  if (task.of(Resource::kMemory).mover.target().has_value()) return std::nullopt;
  // Either tautd ordered this memory.high, or a throttle left it behind. In the second case memory.high does not
  // have the right ratio to memory.max.
  const auto max = entry->values.find(LimitKind::kMemoryMax);
  if (max == entry->values.end()) return value.owner;
  const std::optional<double>& limit = task.in_force.memory_max_bytes;
  if (!limit.has_value() || !IsOurs(LimitKind::kMemoryMax, max->second, limit)) return value.owner;
  return LimitValue(HighBeside(*limit));
}

absl::Status Agent::WriteNow(AgentTask& task, LimitKind kind, LimitValue value) {
  const LimitValue rounded = task.group->Rounded(kind, value);
  parts_.ledger->Intend(task.found, kind, task.owner.of(kind), rounded);
  // Without a saved record, a killed agent could not distinguish its own value from the owner's.
  if (!SaveLedger()) {
    parts_.ledger->Withdraw(task.found.identity, kind);
    return absl::UnavailableError(errors_["ledger"]);
  }
  absl::Status s = task.group->SetLimit(kind, value);
  if (s.ok()) {
    task.in_force.of(kind) = rounded;
    parts_.ledger->Confirm(task.found.identity, kind);
  } else if (!MayBeWritten(s.code())) {
    parts_.ledger->Withdraw(task.found.identity, kind);
  }
  ++(s.ok() ? counts_.writes : counts_.refused_writes);
  SaveLedger();
  return s;
}

void Agent::SetByTier(AgentTask& task, bool is_on) {
  // While the guard throttles, it owns memory.high.
  if (options_.observe || !task.rule->manage || task.high_before.has_value()) return;
  for (const LimitKind kind : kTierKinds) {
    const auto k = static_cast<size_t>(kind);
    if (task.is_others[k] || task.is_refused[k]) continue;
    // An active probe owns memory.high.
    if (kind == LimitKind::kMemoryHigh && task.probe.has_value() && task.probe->high().has_value()) continue;
    std::optional<LimitValue> wanted = is_on ? WantedByTier(task, kind) : std::nullopt;
    if (!wanted.has_value()) wanted = LeftOver(task, kind);
    if (!wanted.has_value()) continue;
    if (SameLimit(kind, task.group->Rounded(kind, *wanted), task.in_force.of(kind))) continue;
    const absl::Status s = WriteNow(task, kind, *wanted);
    const std::string about = StrCat("tiers, ", node::Name(kind));
    if (s.ok()) {
      errors_.erase(about);
    } else if (s.code() != absl::StatusCode::kNotFound) {
      task.is_refused[k] = s.code() == absl::StatusCode::kUnimplemented;
      errors_[about] = StrCat(task.found.job, " / ", task.found.task, ": ", Message(s));
    }
  }
}

// ---- the machine's memory ----

bool Agent::MayBeGuarded(const AgentTask& task, const TierByPath& tiers) const {
  if (!task.rule->manage || IsProduction(task.tier.tier)) return false;
  const std::string_view path = task.group->cgroup_path();
  if (path == "/") return false;
  if (!options_.tiers.guard_of.empty() && !IsWithin(path, options_.tiers.guard_of)) return false;
  if (path.empty()) return true;
  for (const std::string& own : options_.own_groups) {
    if (IsWithin(own, path)) return false;
  }
  // An act on a group affects all groups in it: do not act if one of them has a higher tier.
  const std::string below = StrCat(path, "/");
  for (auto it = tiers.lower_bound(below); it != tiers.end() && it->first.starts_with(below); ++it) {
    if (it->second > task.tier.tier) return false;
  }
  return true;
}

std::vector<GuardTask> Agent::GuardTasks() const {
  std::vector<GuardTask> out;
  TierByPath tiers;
  for (const auto& [id, task] : tasks_) tiers.emplace(task->group->cgroup_path(), task->tier.tier);
  for (const auto& [id, task] : tasks_) {
    const std::optional<double>& usage = task->usage;
    if (!usage.has_value() || !MayBeGuarded(*task, tiers)) continue;
    const bool is_refused = task->is_refused[static_cast<size_t>(LimitKind::kMemoryHigh)] ||
                            task->is_others[static_cast<size_t>(LimitKind::kMemoryHigh)];
    out.push_back({id, task->tier.tier, *usage, RequestOf(*task), options_.has_memory_high && !is_refused});
  }
  return out;
}

std::optional<MemoryNow> Agent::ReadMemory() {
  if (parts_.memory == nullptr || !options_.tiers.guards()) return std::nullopt;
  const absl::StatusOr<MemoryNow> memory = parts_.memory->Read();
  // After an error the reading is absent: the guard must not act on an old figure.
  memory_now_ = memory.ok() ? std::optional(*memory) : std::nullopt;
  if (memory.ok()) {
    errors_.erase(std::string(kAbout));
  } else {
    errors_[std::string(kAbout)] = Message(memory.status());
  }
  return memory_now_;
}

int64_t Agent::guard_due_us() const {
  if (parts_.memory == nullptr || !options_.tiers.guards()) return INT64_MAX;
  return guarded_us_ + (is_guard_awaited_ ? kLeastGuardUs : guard_.is_near() ? kNearUs : kCalmUs);
}

void Agent::GuardAgain(const NodeTime& now, bool is_woken) {
  is_guard_awaited_ = now.steady_us - guarded_us_ < kLeastGuardUs;
  if (is_guard_awaited_) return;
  guarded_us_ = now.steady_us;
  const std::optional<MemoryNow> memory = ReadMemory();
  if (!memory.has_value()) return;
  guard_.Note(*memory, now.steady_us);
  if (!guard_.is_near()) return;
  const bool is_urgent = guard_.IsUrgent(*memory);
  const bool scores_all = now.steady_us - scored_us_ >= kScoreUs;
  std::vector<uint64_t> to_score;
  // Between samples the usage figures are up to a second old: rank victims by present usage.
  if (is_urgent || is_woken) to_score = RefreshForGuard(now);
  if (scores_all) {
    scored_us_ = now.steady_us;
    for (const auto& [id, task] : tasks_) {
      if (!IsProduction(task->tier.tier)) to_score.push_back(id);
    }
  }
  // All ids in to_score exist: RefreshForGuard removed the ended tasks before.
  if (!to_score.empty()) {
    const std::set<std::string_view> paths = GroupPaths();
    for (const uint64_t id : to_score) ScoreProcesses(*tasks_.at(id), paths);
  }
  if (is_urgent) GuardMemory(*memory, now);
  SaveLedger();
}

std::vector<uint64_t> Agent::RefreshForGuard(const NodeTime& now) {
  constexpr double kGrown = kMiB / 4;
  std::vector<uint64_t> gone, grown;
  for (const auto& [id, task] : tasks_) {
    if (!task->rule->manage || IsProduction(task->tier.tier)) continue;
    TaskReading reading;
    const absl::Status s = task->group->Read(ReadDepth::kUsage, reading);
    if (absl::IsNotFound(s)) gone.push_back(id);
    if (!s.ok()) continue;
    const std::optional<double> before = std::exchange(task->usage, UsageIn(reading));
    if (task->usage.value_or(0) >= before.value_or(0) + kGrown) grown.push_back(id);
  }
  for (const uint64_t id : gone) RemoveTask(id, now);
  return grown;
}

void Agent::GuardMemory(const MemoryNow& memory, const NodeTime& now) {
  for (const auto& [id, task] : tasks_) {
    // Another program has set memory.high: the throttle is over, and the guard must not restore it.
    if (!options_.observe && guard_.IsThrottled(id) && !task->high_before.has_value()) guard_.Drop(id);
  }
  const std::vector<GuardTask> tasks = GuardTasks();
  for (const GuardAct& act : guard_.Step(memory, tasks, now.steady_us)) {
    GuardFigures figures{memory, {}};
    for (const GuardTask& task : tasks) {
      if (task.id == act.task) figures.task = task;
    }
    CarryOut(act, figures, now);
  }
  if (guard_.is_helpless()) {
    errors_[std::string(kAbout)] =
        StrCat("memory is about to end (", FormatBytes(memory.free), " of ", FormatBytes(memory.total),
               " free) and there is no task of tier mid, batch or free that may be killed");
  }
}

absl::Status Agent::Throttle(AgentTask& task, double high) {
  // End the probe first: its value must not be mistaken for the owner's value, which is restored after the
  // throttle.
  EndProbe(task, "the guard of memory throttles it");
  // Read the limits now: in_force may be some samples old, and `high` must never raise a lower limit.
  const absl::StatusOr<TaskLimits> limits = task.group->ReadLimits();
  if (!limits.ok()) return limits.status();
  const LimitValue before = limits->memory_high_bytes;
  if (!before.has_value() || *before > high) {
    if (absl::Status s = WriteNow(task, LimitKind::kMemoryHigh, high); !s.ok()) return s;
  }
  task.high_before = before;
  return absl::OkStatus();
}

void Agent::EndThrottle(AgentTask& task, const GuardFigures& figures, std::string why, const NodeTime& now) {
  if (!task.high_before.has_value()) return;
  RestoreHigh(task, *std::exchange(task.high_before, std::nullopt));
  EndThrottleAct(task, figures, std::move(why), now);
}

void Agent::RestoreHigh(AgentTask& task, LimitValue before) {
  const absl::StatusOr<TaskLimits> limits = task.group->ReadLimits();
  if (!limits.ok() || SameLimit(LimitKind::kMemoryHigh, limits->memory_high_bytes, before)) return;
  const LedgerEntry* entry = parts_.ledger->Find(task.found.identity);
  const bool is_ours =
      entry != nullptr && entry->values.contains(LimitKind::kMemoryHigh) &&
      IsOurs(LimitKind::kMemoryHigh, entry->values.at(LimitKind::kMemoryHigh), limits->memory_high_bytes);
  // A value that another program has set stays in force.
  if (!is_ours) return;
  if (const absl::Status s = WriteNow(task, LimitKind::kMemoryHigh, before);
      !s.ok() && s.code() != absl::StatusCode::kNotFound) {
    TaskError(task.finder, task.found.identity, StrCat("memory.high is not restored: ", Message(s)));
  }
}

void Agent::BeginThrottle(AgentTask& task, const GuardAct& act, const GuardFigures& figures,
                          const NodeTime& now) {
  pb::TierAct said =
      ActOf(TierActKind::kThrottle, task, figures,
            StrCat(options_.observe ? kNotDone : "", act.why, "; memory.high ", FormatBytes(act.high)), now);
  said.set_high_bytes(act.high);
  if (!options_.observe) {
    // The act is noted before it is done. WriteNow saves the ledger with this act before it writes the
    // kernel.
    NoteAct(said, ActState::kBegun);
    if (const absl::Status s = Throttle(task, act.high); !s.ok()) {
      DropAct(said);
      task.is_refused[static_cast<size_t>(LimitKind::kMemoryHigh)] = absl::IsUnimplemented(s);
      return guard_.Refused(act.kind, act.task, now.steady_us);
    }
    task.throttle_act = said;
    NoteAct(said, ActState::kStands);
  }
  ++counts_.guard_throttles;
  ReportAct(said, task, figures);
}

void Agent::KillTask(AgentTask& task, const GuardAct& act, const GuardFigures& figures, const NodeTime& now) {
  pb::TierAct said =
      ActOf(TierActKind::kKill, task, figures, StrCat(options_.observe ? kNotDone : "", act.why), now);
  absl::Status s;
  if (!options_.observe) {
    NoteAct(said, ActState::kBegun);
    SaveLedger();  // if saving fails, the kill does not wait for the disk
    s = task.group->Kill().status();
  }
  if (s.ok()) {
    ++counts_.guard_kills;
    ReportAct(said, task, figures);
    // The act is deleted after its report is queued: if the agent is killed in between, the act is reported twice
    // rather than never.
    return DropAct(said);
  }
  DropAct(said);
  guard_.Refused(act.kind, act.task, now.steady_us);
  if (s.code() == absl::StatusCode::kNotFound) return;
  said.set_kind(pb::TierAct::KILL_FAILED);
  said.set_text(StrCat(Message(s), "; ", act.why));
  ReportAct(said, task, figures);
}

void Agent::CarryOut(const GuardAct& act, const GuardFigures& figures, const NodeTime& now) {
  const auto it = tasks_.find(act.task);
  if (it == tasks_.end()) return;
  AgentTask& task = *it->second;
  switch (act.kind) {
    case GuardActKind::kRelease:
      if (!options_.observe) return EndThrottle(task, figures, act.why, now);
      return ReportAct(ActOf(TierActKind::kRelease, task, figures, StrCat(kNotDone, act.why), now), task,
                       figures);
    case GuardActKind::kThrottle:
      return BeginThrottle(task, act, figures, now);
    case GuardActKind::kKill:
      return KillTask(task, act, figures, now);
  }
}

}  // namespace taut::node
