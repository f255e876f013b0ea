// Selects the tasks of a trial, counts windows and kills on both sides, and saves the state of a gate.
#include <algorithm>
#include <cmath>

#include "brain/rollout/gate.h"
#include "brain/rollout/gate_parts.h"

namespace taut::brain {
namespace {

constexpr double kAtLimit = 0.99;
// Version 1 identifies tasks on trial by number and has no floor. Version 2 has no time of delivery.
constexpr uint8_t kTrialVersion = 3;
// Rounding of limits by kernels. kRounding is a share of the limit. CPU limits that are set by weight are
// rounded by up to kWeightCores.
constexpr double kRounding = 0.01;
constexpr double kWeightCores = 0.013;
constexpr double kWeightShare = 0.1;  // highest share of rounding by weight; less than an agent's raise
constexpr double kPageBytes = 4096;
constexpr size_t kMaxMembers = 1 << 20;
// Ended members are kept up to this multiple of the wanted number, because they may return.
constexpr size_t kMembersKept = 4;

double ShareOf(uint32_t num_tasks, double share) {
  const double one = 1.0 / num_tasks;
  return std::clamp(share, one, 1 - one);
}

void CountTask(const TaskUsage& task, std::optional<double> limit, TrialSide& side) {
  ++side.task_windows;
  side.usage_sum += task.mean;
  if (!limit.has_value()) return;
  side.limit_sum += *limit;
  if (task.peak >= *limit * kAtLimit) ++side.over;
}

void PutAmount(ByteWriter& out, std::optional<double> amount) { out.Put(amount.value_or(-1)); }

// Reads a limit, where -1 means no limit. Returns false if the value cannot be a limit.
bool GetAmount(ByteReader& in, std::optional<double>* amount) {
  const double value = in.Get<double>();
  amount->reset();
  if (value == -1) return true;
  *amount = value;
  return std::isfinite(value) && value >= 0;
}

void SaveSide(ByteWriter& out, const TrialSide& side) {
  out.PutVarint(side.task_windows);
  out.PutVarint(side.ooms);
  out.PutVarint(side.over);
  out.Put(side.usage_sum);
  out.Put(side.limit_sum);
  out.PutVarint(side.periods);
  out.PutVarint(side.throttled);
}

bool LoadSide(ByteReader& in, uint8_t version, TrialSide& side) {
  side.task_windows = in.GetVarint();
  side.ooms = in.GetVarint();
  side.over = in.GetVarint();
  side.usage_sum = in.Get<double>();
  side.limit_sum = in.Get<double>();
  if (version >= 2) {
    side.periods = in.GetVarint();
    side.throttled = in.GetVarint();
  }
  return side.over <= side.task_windows && std::isfinite(side.usage_sum) && std::isfinite(side.limit_sum) &&
         side.throttled <= side.periods;
}

void SaveMembers(ByteWriter& out, const Trial& trial) {
  out.PutVarint(trial.decision);
  out.PutVarint(trial.elsewhere);
  out.Put(static_cast<uint8_t>(trial.delivered ? 1 : 0));
  out.Put(static_cast<uint8_t>(trial.failed ? 2 : trial.refused ? 1 : 0));
  out.PutString(trial.refusal);
  out.PutVarint(trial.members.size());
  for (const TrialTask& t : trial.members) {
    out.PutVarint(t.number);
    out.PutString(t.name);
  }
  out.Put(trial.delivered_s);
}

bool LoadMembers(ByteReader& in, uint8_t version, Trial& trial) {
  trial.decision = in.GetVarint();
  trial.elsewhere = in.GetVarint();
  const auto delivered = in.Get<uint8_t>(), refused = in.Get<uint8_t>();
  trial.delivered = delivered == 1;
  trial.refused = refused >= 1;
  trial.failed = refused == 2;
  trial.refusal = in.GetString();
  const uint64_t count = in.GetVarint();
  if (in.failed() || delivered > 1 || refused > 2 || count > kMaxMembers) return false;
  for (uint64_t i = 0; i < count && !in.failed(); ++i) {
    TrialTask& t = trial.members.emplace_back();
    t.number = static_cast<uint32_t>(in.GetVarint());
    t.name = in.GetString();
  }
  if (version >= 3) trial.delivered_s = in.Get<int64_t>();
  return !in.failed();
}

bool LoadTrial(ByteReader& in, uint8_t version, Trial& trial) {
  trial.limit = in.Get<double>();
  const bool amounts = GetAmount(in, &trial.old_limit) && std::isfinite(trial.limit) && trial.limit >= 0;
  trial.since_s = in.Get<int64_t>();
  const auto watched = in.Get<uint8_t>();
  trial.watched = watched == 1;
  const bool sides = LoadSide(in, version, trial.tasks) && LoadSide(in, version, trial.rest);
  const bool members = version < 2 || LoadMembers(in, version, trial);
  return amounts && sides && members && watched <= 1;
}

// Returns the row of a task in `all`, which ascends by task; nullptr if there is no row.
template <typename T>
const T* OfTask(std::span<const T> all, uint32_t task) {
  const auto it =
      std::lower_bound(all.begin(), all.end(), task, [](const T& one, uint32_t t) { return one.task < t; });
  return it != all.end() && it->task == task ? &*it : nullptr;
}

void CountThrottling(Resource r, uint32_t periods, uint32_t throttled, TrialSide& side) {
  if (!ThrottlesAtLimit(r)) return;
  side.periods += periods;
  side.throttled += throttled;
}

// Counts a task at the limit that its agent reported. Skips a task without a reported limit.
void CountEnforced(const TrialWindow& window, const TaskUsage& task, Trial& trial) {
  const TaskReport* report = OfTask(window.reports, task.task);
  if (report == nullptr || report->limit(window.resource) == kAbsent) return;
  const bool member = trial.Has(task.task);
  const auto limit = double{report->limit(window.resource)};
  const bool at_trial = IsAtLimit(window.resource, limit, trial.limit);
  if (member && !at_trial) {
    ++trial.elsewhere;
    return;
  }
  // A window in which the limit changed belongs to neither side. A task outside the trial that has the trial's
  // limit would distort the comparison.
  if (!report->steady(window.resource) || (!member && at_trial)) return;
  TrialSide& side = member ? trial.tasks : trial.rest;
  CountTask(task, std::isfinite(limit) ? std::optional(limit) : std::nullopt, side);
  CountThrottling(window.resource, report->cpu_periods, report->cpu_throttled_periods, side);
}

// Counts a task whose limit is known only from the actuator, which does not report deviations in single windows.
void CountDelivered(const TrialWindow& window, const TaskUsage& task, std::optional<double> limit,
                    TrialSide& side) {
  CountTask(task, limit, side);
  if (const TaskThrottling* t = OfTask(window.throttling, task.task); t != nullptr)
    CountThrottling(window.resource, t->periods, t->throttled, side);
}

}  // namespace

double TrialSide::OverShare() const {
  return task_windows == 0 ? 0 : static_cast<double>(over) / static_cast<double>(task_windows);
}

double TrialSide::ThrottledShare() const {
  return periods == 0 ? 0 : static_cast<double>(throttled) / static_cast<double>(periods);
}

bool Trial::Has(uint32_t number) const {
  return std::any_of(members.begin(), members.end(),
                     [number](const TrialTask& t) { return t.number == number; });
}

void Trial::AddMembers(std::span<const uint32_t> alive, uint32_t wanted) {
  std::vector<uint32_t> others;
  for (const uint32_t t : alive) {
    if (!Has(t)) others.push_back(t);
  }
  const auto count = static_cast<double>(others.size());
  for (size_t i = 0; i < others.size(); ++i) {
    const auto place = static_cast<double>(i);
    if (WholePart((place + 1) * wanted / count) > WholePart(place * wanted / count)) {
      members.push_back({others[i], ""});
    }
  }
}

void Trial::ReplaceMembers(std::span<const uint32_t> alive, uint32_t wanted) {
  const auto is_alive = [alive](const TrialTask& t) {
    return std::binary_search(alive.begin(), alive.end(), t.number);
  };
  const auto here = static_cast<uint32_t>(std::ranges::count_if(members, is_alive));
  if (here >= wanted) return;
  AddMembers(alive, wanted - here);
  const size_t most = kMembersKept * wanted + kMembersKept;
  for (auto it = members.begin(); members.size() > most && it != members.end();)
    it = is_alive(*it) ? it + 1 : members.erase(it);
}

bool Trial::TooManyOoms() const {
  const auto windows = [](const TrialSide& side) {
    return side.task_windows == 0 ? 1.0 : static_cast<double>(side.task_windows);
  };
  return static_cast<double>(tasks.ooms) * windows(rest) > static_cast<double>(rest.ooms) * windows(tasks);
}

bool Trial::TooOftenOver(const CanarySettings& canary) const {
  return static_cast<double>(tasks.task_windows) >= canary.min_task_windows &&
         tasks.OverShare() > rest.OverShare() + canary.max_extra_over;
}

bool Trial::TooOftenThrottled(const CanarySettings& canary) const {
  return static_cast<double>(tasks.task_windows) >= canary.min_task_windows &&
         tasks.ThrottledShare() > rest.ThrottledShare() + canary.max_extra_over;
}

bool IsAtLimit(Resource r, double reported, double limit) {
  const double least = InBytes(r) ? 2 * kPageBytes : std::min(kWeightCores, limit * kWeightShare);
  return std::abs(reported - limit) <= std::max(limit * kRounding, least);
}

uint32_t TrialTasks(uint32_t num_tasks, double share) {
  if (num_tasks < 2) return 0;
  return static_cast<uint32_t>(WholePart(num_tasks * ShareOf(num_tasks, share)));
}

bool InTrial(uint32_t place, uint32_t num_tasks, double share) {
  if (num_tasks < 2) return false;
  const double step = ShareOf(num_tasks, share);
  return WholePart((place + 1.0) * step) > WholePart(place * step);
}

void CountTrialWindow(const TrialWindow& window, GateState& state) {
  if (!state.trial.has_value()) return;
  Trial& trial = *state.trial;
  const std::optional<double> rest_limit =
      trial.old_limit.has_value() ? trial.old_limit : window.signal->owner_limit;
  // The window in which the limit changed belongs to neither side. This window is the next window to close or,
  // because windows close late, the window after that.
  const WindowId now = window.signal->window;
  if (trial.delivered && trial.delivered_s == INT64_MIN) trial.delivered_s = now.next().next().start_s();
  const bool delivered = trial.delivered && now.start_s() >= trial.delivered_s;
  for (const TaskUsage& task : window.signal->tasks) {
    const bool tried = trial.watched || trial.Has(task.task);
    const std::optional<double> limit = tried ? std::optional(trial.limit) : rest_limit;
    TrialSide& side = tried ? trial.tasks : trial.rest;
    if (trial.watched || window.applied == LimitsApplied::kNo) {
      // Throttling is not counted, because the tasks do not run at `limit` or their limit is unknown.
      CountTask(task, limit, side);
    } else if (window.applied == LimitsApplied::kAgentsReport) {
      CountEnforced(window, task, trial);
    } else if (delivered) {
      CountDelivered(window, task, limit, side);
    }
  }
}

void CountTrialOom(uint32_t task, uint64_t kills, std::optional<double> limit, GateState& state) {
  if (!state.trial.has_value()) return;
  Trial& trial = *state.trial;
  if (trial.watched) {
    trial.tasks.ooms += kills;
  } else if (!trial.Has(task)) {
    trial.rest.ooms += kills;
  } else if (!limit.has_value() || *limit <= trial.limit ||
             IsAtLimit(Resource::kMemory, *limit, trial.limit)) {
    trial.tasks.ooms += kills;
  }
}

void NoteTrialOutcome(const OutcomeUpdate& outcome, GateState& state) {
  if (!state.trial.has_value() || state.trial->decision != outcome.id || outcome.id == 0) return;
  Trial& trial = *state.trial;
  trial.delivered |= outcome.outcome == Outcome::kApplied;
  trial.failed = outcome.outcome == Outcome::kFailed;
  trial.refused = trial.failed || outcome.outcome == Outcome::kDryRun;
  trial.refusal = outcome.text;
}

void GateState::Save(ByteWriter& out) const {
  out.Put(kTrialVersion);
  PutAmount(out, in_force);
  PutAmount(out, shown);
  out.Put(last_change_s);
  out.Put(last_shown_s);
  out.Put(rolled_back_limit);
  out.Put(rolled_back_s);
  out.Put(floor);
  out.Put(static_cast<uint8_t>(trial.has_value() ? 1 : 0));
  if (!trial.has_value()) return;
  out.Put(trial->limit);
  PutAmount(out, trial->old_limit);
  out.Put(trial->since_s);
  out.Put(static_cast<uint8_t>(trial->watched ? 1 : 0));
  SaveSide(out, trial->tasks);
  SaveSide(out, trial->rest);
  SaveMembers(out, *trial);
}

absl::Status GateState::Load(ByteReader& in) {
  const absl::Status damaged = absl::DataLossError("the state of a rollout is damaged");
  GateState loaded;
  const auto version = in.Get<uint8_t>();
  const bool amounts = GetAmount(in, &loaded.in_force) && GetAmount(in, &loaded.shown);
  loaded.last_change_s = in.Get<int64_t>();
  loaded.last_shown_s = in.Get<int64_t>();
  loaded.rolled_back_limit = in.Get<double>();
  loaded.rolled_back_s = in.Get<int64_t>();
  if (version >= 2) loaded.floor = in.Get<double>();
  const auto has_trial = in.Get<uint8_t>();
  if (in.failed() || version == 0 || version > kTrialVersion || !amounts || has_trial > 1) return damaged;
  if (!std::isfinite(loaded.rolled_back_limit) || loaded.rolled_back_limit < 0) return damaged;
  if (!std::isfinite(loaded.floor) || loaded.floor < 0) return damaged;
  if (has_trial == 1 && (!LoadTrial(in, version, loaded.trial.emplace()) || in.failed())) return damaged;
  *this = std::move(loaded);
  return absl::OkStatus();
}

}  // namespace taut::brain
