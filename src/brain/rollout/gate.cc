// The gate of limits: one short function for each mode. The holds are checked in the order in which the verdict
// reports them.
#include "brain/rollout/gate.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "brain/rollout/gate_parts.h"
#include "brain/rollout/maintenance.h"
#include "common/base/strings.h"
#include "common/base/time.h"
#include "common/model/units.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

constexpr double kRaiseShareOfPeriod = 1.0 / 6;
// Longest wait of a raise by less than min_change. Without this bound, usage could exceed the limit permanently
// by less than min_change.
constexpr double kSmallRaiseWait = kDay;
// Relative difference below which two limits are equal.
constexpr double kSame = 1e-6;
// Share below which a difference is not reported, because it would be printed as 0.0 %.
constexpr double kNoDifference = 5e-4;
// Share of the trial's duration within which the trial's limit must be applied, but at least kLeastDelivery
// seconds.
constexpr double kDeliveryShare = 0.25;
constexpr int64_t kLeastDelivery = 3600;
// Time for which a refusal does not end a trial, because the order may have been sent in the middle of a window.
constexpr int64_t kRefusalSeconds = 2 * kWindowSeconds;
// Multiple of a trial's duration after which, plus a day, a trial without enough task-windows ends.
constexpr double kGiveUpHours = 4;

// Returns the seconds from `from_s` to `now_s`; 1e18 if `from_s` is INT64_MIN, because the event never happened.
double Since(int64_t from_s, int64_t now_s) {
  return from_s == INT64_MIN ? 1e18 : static_cast<double>(now_s) - static_cast<double>(from_s);
}

std::string Percent(double share) {
  const double percent = std::abs(share) * 100;
  return fmt::format("{:.{}f} %", percent, percent < 9.95 && percent != 0 ? 1 : 0);
}

std::string Whole(double share) { return fmt::format("{:.3g} %", share * 100); }

std::string Kills(uint64_t kills) { return StrCat(kills, kills == 1 ? " OOM kill" : " OOM kills"); }

// One call of Decide. current_ is the limit with which the recommendation is compared.
class Gate {
 public:
  Gate(const JobPolicy& policy, const Proposal& proposal, GateState& state)
      : policy_(policy), p_(proposal), state_(state) {
    current_ = state.in_force.has_value() ? state.in_force : proposal.owner_limit;
  }

  Verdict Off();
  Verdict Observe();
  Verdict Apply();

 private:
  std::string Amount(double amount) const { return FormatAmount(p_.resource, amount); }
  std::string Change(std::optional<double> before, double after) const;
  std::string Why(std::optional<double> before, std::string_view otherwise = "") const;
  bool Raises(std::optional<double> from) const {
    return from.has_value() && p_.recommended.has_value() && *p_.recommended > *from * (1 + kSame);
  }
  // Returns true if the recommender's own forecast for a limit of Tautline exceeds the highest allowed chance.
  // Such a limit is replaced by a higher limit without waiting.
  bool IsTooRisky(std::optional<double> ours) const {
    return ours.has_value() && p_.recommender != nullptr && p_.recommender->RiskOf(*ours).is_too_high();
  }
  bool TrialRuns() const { return state_.trial.has_value() && !state_.trial->watched; }
  int64_t CanarySeconds() const { return std::llround(policy_.canary.hours * kHour); }

  Verdict Done(DecisionKind kind, std::optional<double> before, std::optional<double> after,
               std::string sentence);
  Verdict Release(std::string_view why);
  // The Hold functions return the reason why a change waits; "" if the change does not wait.
  std::string HoldOfChange(std::optional<double> from, std::string_view from_name, int64_t last_s) const;
  std::string HoldOfPeriod(bool raise) const { return HoldOfPeriod(raise, state_.last_change_s, "change"); }
  std::string HoldOfPeriod(bool raise, int64_t last_s, std::string_view what) const;
  std::string HoldOfMaintenance() const;
  std::string HoldOfVersion() const;  // Returns the reason of a hold that applies to lower limits only.
  std::string HoldOfRolledBack() const;

  // Returns the verdict that moves a limit in force or on trial into changed bounds; nullopt if the limit is
  // within the bounds.
  std::optional<Verdict> KeepBounds();
  Verdict Set();
  Verdict Lower();  // Decides on a lower limit in mode canary.
  Verdict Watch();
  Verdict JudgeWatched();
  Verdict JudgeTrial();
  Verdict RollBack(std::string_view why, bool limit_is_bad);
  std::string Comparison() const;
  uint32_t TrialSize() const;
  std::optional<Verdict> EndUndelivered();

  const JobPolicy& policy_;
  const Proposal& p_;
  GateState& state_;
  std::optional<double> current_;
};

std::string Gate::Change(std::optional<double> before, double after) const {
  if (!before.has_value() || *before <= 0) return Amount(after);
  const double share = after / *before - 1;
  return StrCat(Amount(after), " instead of ", Amount(*before), ", ", Percent(share),
                share < 0 ? " less" : " more");
}

// Returns the explanation of the recommendation, without the limits, which every front end shows separately.
std::string Gate::Why(std::optional<double> before, std::string_view otherwise) const {
  Reason reason;
  if (p_.recommender != nullptr) p_.recommender->Explain(reason);
  std::string why = reason.why.empty() ? StrCat(otherwise, Change(before, *p_.recommended)) : reason.why;
  if (!p_.step_to.has_value()) return why;
  StrAppend(
      &why, "; ", Amount(*p_.step_to), " is recommended, ",
      p_.step_is_of_peak ? "and the kernel saw a task have " : "and limits are lowered in steps, now to ",
      Amount(*p_.recommended));
  return why;
}

Verdict Gate::Done(DecisionKind kind, std::optional<double> before, std::optional<double> after,
                   std::string sentence) {
  state_.last_change_s = p_.now_s;
  return {kind, before, after, std::move(sentence)};
}

Verdict Gate::Release(std::string_view why) {
  const std::optional<double> before = state_.in_force.has_value() ? *state_.in_force : state_.trial->limit;
  state_.in_force.reset();
  state_.trial.reset();
  const std::string owner = p_.owner_limit.has_value()
                                ? StrCat("the owner's limit of ", Amount(*p_.owner_limit), " again")
                                : "the owner's limit again";
  return Done(DecisionKind::kRelease, before, std::nullopt, StrCat(why, ": ", owner));
}

Verdict Gate::Off() {
  state_.shown.reset();
  if (state_.in_force.has_value() || TrialRuns()) return Release("mode off");
  state_.trial.reset();
  return {};
}

Verdict Gate::Observe() {
  if (state_.in_force.has_value() || TrialRuns()) {
    state_.shown.reset();
    return Release("mode observe");
  }
  state_.trial.reset();
  if (!p_.recommended.has_value()) return Hold("no recommendation yet");
  const std::optional<double> last = state_.shown.has_value() ? state_.shown : p_.owner_limit;
  const bool oom_raise = p_.oom && Raises(last);
  if (!oom_raise) {
    const std::string_view name = state_.shown.has_value() ? "the last shown limit" : "the owner's limit";
    if (last.has_value() && std::abs(*p_.recommended - *last) <= *last * kSame) return {};
    if (std::string hold = HoldOfChange(last, name, state_.last_shown_s); !hold.empty())
      return Hold(std::move(hold));
    const bool raise = Raises(last);
    if (std::string hold = raise ? "" : HoldOfVersion(); !hold.empty()) return Hold(std::move(hold));
    const bool at_once = raise && IsTooRisky(state_.shown);
    if (std::string hold = at_once ? "" : HoldOfPeriod(raise, state_.last_shown_s, "notice"); !hold.empty())
      return Hold(std::move(hold));
  }
  state_.shown = p_.recommended;
  state_.last_shown_s = p_.now_s;
  return {DecisionKind::kWouldSet, last, p_.recommended,
          oom_raise ? StrCat("after an OOM kill, would be raised immediately: ", Why(last))
                    : Why(last, "would be ")};
}

Verdict Gate::Apply() {
  state_.shown.reset();
  if (state_.trial.has_value() && state_.trial->watched &&
      (policy_.mode != Mode::kCanary || p_.num_tasks > 1)) {
    state_.trial.reset();
  }
  // This check must precede all checks that end or prolong the trial, because too many kills must roll back the
  // trial at once.
  if (TrialRuns() && state_.trial->TooManyOoms()) return RollBack(Comparison(), true);
  // An OOM raise supersedes a trial: the new limit applies to all tasks.
  if (p_.oom && Raises(current_)) {
    const std::optional<double> before = current_;
    state_.trial.reset();
    state_.in_force = p_.recommended;
    return Done(DecisionKind::kOomRaise, before, p_.recommended,
                StrCat("raised immediately after an OOM kill: ", Change(before, *p_.recommended)));
  }
  if (p_.grows) {
    if (!Raises(current_) || TrialRuns()) return Hold(state_.trial.has_value() ? "a trial runs" : "");
    const std::optional<double> before = current_;
    state_.trial.reset();
    state_.in_force = p_.recommended;
    return Done(
        DecisionKind::kSet, before, p_.recommended,
        StrCat("raised before usage, which grows, reaches the limit: ", Change(before, *p_.recommended)));
  }
  // This call must precede the checks of the recommendation and of the trial, because bounds apply even without a
  // recommendation and during a trial.
  if (std::optional<Verdict> kept = KeepBounds(); kept.has_value()) return *std::move(kept);
  if (TrialRuns()) return JudgeTrial();
  if (!p_.recommended.has_value()) {
    return state_.trial.has_value() ? JudgeWatched() : Hold("no recommendation yet");
  }
  if (current_.has_value() && std::abs(*p_.recommended - *current_) <= *current_ * kSame) {
    state_.trial.reset();
    return {};
  }
  const bool raise = Raises(current_);
  if (raise) state_.trial.reset();
  if (!raise && p_.oom) return Hold("a task was just OOM-killed; no limit is lowered now");
  const std::string_view name = state_.in_force.has_value() ? "the limit in force" : "the owner's limit";
  if (std::string hold = HoldOfChange(current_, name, state_.last_change_s); !hold.empty())
    return Hold(std::move(hold));
  if (std::string hold = raise ? "" : HoldOfVersion(); !hold.empty()) {
    state_.trial.reset();  // the watch restarts with the new version
    return Hold(std::move(hold));
  }
  if (policy_.mode == Mode::kCanary && !raise) return Lower();
  return Set();
}

std::optional<Verdict> Gate::KeepBounds() {
  const BoundSettings bounds = policy_.AllowedBounds(p_.resource);
  const auto is_below = [&](double limit) { return limit < bounds.lower.value_or(limit) * (1 - kSame); };
  const auto is_above = [&](double limit) { return limit > bounds.upper.value_or(limit) * (1 + kSame); };
  if (TrialRuns() && (is_below(state_.trial->limit) || is_above(state_.trial->limit)))
    return RollBack(StrCat(Amount(state_.trial->limit), " is outside of the bounds now"), false);
  const std::optional<double> before = state_.in_force;
  if (!before.has_value() || (!is_below(*before) && !is_above(*before))) return std::nullopt;
  const bool raise = is_below(*before);
  if (std::string hold = raise ? "" : HoldOfMaintenance(); !hold.empty()) return Hold(std::move(hold));
  state_.trial.reset();
  state_.in_force = raise ? bounds.lower : bounds.upper;
  return Done(DecisionKind::kSet, before, state_.in_force,
              StrCat("the ", raise ? "lower" : "upper", " bound is ", Amount(*state_.in_force), ": ",
                     Change(before, *state_.in_force)));
}

Verdict Gate::Set() {
  const bool at_once = Raises(current_) && (policy_.WatchesVersion(p_.now_s) || IsTooRisky(state_.in_force));
  if (std::string hold = at_once ? "" : HoldOfPeriod(Raises(current_)); !hold.empty())
    return Hold(std::move(hold));
  if (std::string hold = HoldOfMaintenance(); !hold.empty()) return Hold(std::move(hold));
  state_.in_force = p_.recommended;
  return Done(DecisionKind::kSet, current_, p_.recommended, Why(current_));
}

std::string Gate::HoldOfChange(std::optional<double> from, std::string_view from_name, int64_t last_s) const {
  if (!from.has_value() || *from <= 0) return "";
  const double share = *p_.recommended / *from - 1;
  if (std::abs(share) >= policy_.min_change) return "";
  if (share > 0 && last_s != INT64_MIN && IsTooRisky(from)) return "";
  // Before Tautline's first change, the current limit is the owner's choice. A small difference does not justify a
  // change of this choice.
  const bool for_a_day = share > 0 && last_s != INT64_MIN;
  if (for_a_day && Since(last_s, p_.now_s) >= kSmallRaiseWait) return "";
  if (std::abs(share) < kNoDifference) return StrCat("no change: ", from_name, " is recommended");
  return StrCat(Percent(share), share < 0 ? " less than " : " more than ", from_name,
                for_a_day ? "; raises under " : "; changes under ", Whole(policy_.min_change),
                for_a_day ? " wait for a day after the last change" : " wait");
}

std::string Gate::HoldOfPeriod(bool raise, int64_t last_s, std::string_view what) const {
  const double period = policy_.change_period_s * (raise ? kRaiseShareOfPeriod : 1);
  const double since = Since(last_s, p_.now_s);
  if (since >= period) return "";
  return StrCat("the last ", what, " was ", FormatDuration(std::llround(since)), " ago; limited to one ",
                raise ? "raise per " : "per ", FormatDuration(std::llround(period)));
}

std::string Gate::HoldOfMaintenance() const {
  if (InMaintenance(policy_.maintenance, p_.now_s)) return "";
  const std::optional<int64_t> next = NextMaintenance(policy_.maintenance, p_.now_s);
  return next.has_value() ? StrCat("waits for the maintenance window ", WeekTime(*next))
                          : "waits for a maintenance window";
}

std::string Gate::HoldOfVersion() const {
  if (!policy_.WatchesVersion(p_.now_s)) return "";
  const int64_t since = std::max<int64_t>(0, p_.now_s - *policy_.version.since_s);
  return StrCat("the version ", policy_.version.name, " began ", FormatDuration(since),
                " ago; no limit is lowered in its first ",
                FormatDuration(std::llround(policy_.watch_version_s)));
}

std::string Gate::HoldOfRolledBack() const {
  const double wait = kRetryHours * static_cast<double>(CanarySeconds());
  const double since = Since(state_.rolled_back_s, p_.now_s);
  if (since >= wait || *p_.recommended > state_.rolled_back_limit * (1 + policy_.min_change)) return "";
  return StrCat(Amount(state_.rolled_back_limit), " failed a trial ", FormatDuration(std::llround(since)),
                " ago; retry after ", FormatDuration(std::llround(wait)));
}

Verdict Gate::Lower() {
  if (state_.trial.has_value()) return JudgeWatched();
  if (std::string hold = HoldOfRolledBack(); !hold.empty()) return Hold(std::move(hold));
  if (p_.num_tasks == 0) return Hold("no task ran in the last window: a trial needs running tasks");
  if (p_.num_tasks == 1) return Watch();
  if (std::string hold = HoldOfPeriod(false); !hold.empty()) return Hold(std::move(hold));
  if (std::string hold = HoldOfMaintenance(); !hold.empty()) return Hold(std::move(hold));
  if (p_.tasks == nullptr) return Hold("a trial starts when the next window is closed");
  if (p_.tasks->empty()) return Hold("no agent applies limits to its tasks: a trial needs such tasks");
  Trial& trial = state_.trial.emplace();
  trial.limit = *p_.recommended;
  trial.old_limit = current_;
  trial.since_s = p_.now_s;
  trial.AddMembers(*p_.tasks, TrialSize());
  return Done(DecisionKind::kTry, current_, p_.recommended,
              StrCat("tried on ", trial.members.size(), " of ", p_.num_tasks, " tasks: ", Why(current_)));
}

// Returns the number of tasks to put on trial: a share of the job's tasks, bounded by the tasks that can have a
// trial's limit. Never all tasks of the job.
uint32_t Gate::TrialSize() const {
  const auto candidates = static_cast<uint32_t>(p_.tasks->size());
  return std::min(TrialTasks(p_.num_tasks, policy_.canary.share), candidates);
}

// Ends a trial whose limit was not applied. Such a trial does not test the limit.
std::optional<Verdict> Gate::EndUndelivered() {
  const Trial& trial = *state_.trial;
  const bool failed = trial.failed && !trial.delivered;
  const bool has_run =
      p_.applied == LimitsApplied::kActuatorSays ? trial.delivered : trial.tasks.task_windows > 0;
  if (!failed && (p_.applied == LimitsApplied::kNo || has_run)) return std::nullopt;
  const int64_t lasted = p_.now_s - trial.since_s;
  const std::string why = trial.refusal.empty() ? "" : StrCat(": ", trial.refusal);
  if (trial.refused && lasted >= kRefusalSeconds) {
    return RollBack(StrCat(Amount(trial.limit), " was not applied to any task on trial", why), false);
  }
  const auto bound =
      std::max<int64_t>(kLeastDelivery, std::llround(kDeliveryShare * static_cast<double>(CanarySeconds())));
  if (lasted < bound) return std::nullopt;
  // Agents raised the limit again after it was delivered, which is evidence against the limit.
  if (trial.delivered && trial.elsewhere > 0) {
    return RollBack(StrCat(Amount(trial.limit), " was applied, but no task ran at it: in ", trial.elsewhere,
                           " task-windows agents had another limit, raised after throttling or an OOM kill"),
                    true);
  }
  return RollBack(StrCat(Amount(trial.limit), " was not applied to any task on trial within ",
                         FormatDuration(bound), why),
                  false);
}

Verdict Gate::Watch() {
  Trial& trial = state_.trial.emplace();
  trial.limit = *p_.recommended;
  trial.old_limit = current_;
  trial.since_s = p_.now_s;
  trial.watched = true;
  return Hold(StrCat("a trial needs two tasks; usage is compared with ", Amount(trial.limit), " for ",
                     FormatDuration(CanarySeconds()), " before it is set"));
}

Verdict Gate::JudgeWatched() {
  const Trial trial = *state_.trial;
  if (trial.tasks.ooms > 0 || trial.TooOftenOver(policy_.canary)) {
    state_.trial.reset();
    state_.rolled_back_limit = trial.limit;
    state_.rolled_back_s = p_.now_s;
    return Hold(StrCat("not set: watched for ", FormatDuration(p_.now_s - trial.since_s), ", usage was at ",
                       Amount(trial.limit), " in ", Percent(trial.tasks.OverShare()), " of windows, with ",
                       Kills(trial.tasks.ooms)));
  }
  if (!p_.recommended.has_value()) return Hold("no recommendation now");
  if (*p_.recommended > trial.limit * (1 + policy_.min_change)) return Watch();
  const auto windows = static_cast<double>(trial.tasks.task_windows);
  if (p_.now_s - trial.since_s < CanarySeconds() || windows < policy_.canary.min_task_windows) {
    return Hold(StrCat("a trial needs two tasks; usage has been compared with ", Amount(trial.limit), " for ",
                       FormatDuration(p_.now_s - trial.since_s), " of ", FormatDuration(CanarySeconds())));
  }
  if (std::string hold = HoldOfPeriod(false); !hold.empty()) return Hold(std::move(hold));
  if (std::string hold = HoldOfMaintenance(); !hold.empty()) return Hold(std::move(hold));
  state_.trial.reset();
  state_.in_force = trial.limit;
  return Done(DecisionKind::kSet, current_, trial.limit,
              StrCat(Change(current_, trial.limit), "; watched for ",
                     FormatDuration(p_.now_s - trial.since_s), ", the task reached the limit in ",
                     Percent(trial.tasks.OverShare()), " of ", trial.tasks.task_windows, " windows"));
}

std::string Gate::Comparison() const {
  const Trial& trial = *state_.trial;
  std::string out = StrCat(trial.members.size(), " of ", p_.num_tasks, " tasks ran ",
                           FormatDuration(p_.now_s - trial.since_s), " at ", Amount(trial.limit), ": ",
                           Kills(trial.tasks.ooms), ", ", Percent(trial.tasks.OverShare()),
                           " of windows at the limit; the other tasks: ", Kills(trial.rest.ooms), ", ",
                           Percent(trial.rest.OverShare()));
  if (trial.tasks.periods > 0) {
    StrAppend(&out, "; throttled in ", Percent(trial.tasks.ThrottledShare()),
              " of periods; the other tasks: ", Percent(trial.rest.ThrottledShare()));
  }
  return out;
}

Verdict Gate::RollBack(std::string_view why, bool limit_is_bad) {
  const Trial trial = *state_.trial;
  state_.trial.reset();
  if (limit_is_bad) {
    state_.rolled_back_limit = trial.limit;
    state_.rolled_back_s = p_.now_s;
  }
  return Done(DecisionKind::kRollBack, trial.limit, state_.in_force, std::string(why));
}

Verdict Gate::JudgeTrial() {
  const Trial& trial = *state_.trial;
  const int64_t lived = p_.now_s - trial.since_s;
  // This check must precede the causes that end the trial without a verdict, because evidence against the limit
  // has priority.
  if (trial.TooOftenOver(policy_.canary) || trial.TooOftenThrottled(policy_.canary))
    return RollBack(Comparison(), true);
  if (policy_.WatchesVersion(p_.now_s) && *policy_.version.since_s > trial.since_s) {
    return RollBack(StrCat("the version ", policy_.version.name, " began while ", Amount(trial.limit),
                           " was on trial; it is tried again later"),
                    false);
  }
  if (trial.members.empty()) {
    return RollBack("the tasks on trial are unknown; the trial restarts", false);
  }
  if (std::optional<Verdict> end = EndUndelivered(); end.has_value()) return *std::move(end);
  if (p_.num_tasks == 1) return RollBack("one task is left, and a trial needs two", false);
  const double most = trial.limit * (IsTooRisky(trial.limit) ? 1 : 1 + policy_.min_change);
  if (p_.recommended.has_value() && *p_.recommended > most) {
    return RollBack(StrCat("the recommendation rose to ", Amount(*p_.recommended), " while ",
                           Amount(trial.limit), " was on trial"),
                    false);
  }
  const auto windows = static_cast<double>(trial.tasks.task_windows);
  const bool enough = windows >= policy_.canary.min_task_windows;
  if (!enough && static_cast<double>(lived) > kGiveUpHours * static_cast<double>(CanarySeconds()) + kDay) {
    return RollBack(
        fmt::format("after {} its tasks had {} of the {:.0f} task-windows required", FormatDuration(lived),
                    trial.tasks.task_windows, policy_.canary.min_task_windows),
        true);
  }
  if (!enough || lived < CanarySeconds()) {
    // Members that ended are replaced while the trial runs. With fewer than 2 tasks there is no control group.
    if (p_.tasks != nullptr && p_.num_tasks >= 2) state_.trial->ReplaceMembers(*p_.tasks, TrialSize());
    return Hold(fmt::format(
        "{} is on trial for {}, {} task-windows so far; evaluated after {} and {:.0f} task-windows",
        Amount(trial.limit), FormatDuration(lived), trial.tasks.task_windows, FormatDuration(CanarySeconds()),
        policy_.canary.min_task_windows));
  }
  if (trial.elsewhere > trial.tasks.task_windows) {
    return RollBack(StrCat("in ", trial.elsewhere, " of ", trial.elsewhere + trial.tasks.task_windows,
                           " task-windows the tasks on trial had another limit than ", Amount(trial.limit),
                           ": agents raised it, or it was not applied"),
                    trial.delivered || trial.tasks.task_windows > 0);
  }
  if (std::string hold = HoldOfPeriod(false); !hold.empty()) return Hold(std::move(hold));
  if (std::string hold = HoldOfMaintenance(); !hold.empty()) return Hold(std::move(hold));
  std::string sentence = Comparison();
  const double limit = trial.limit;
  state_.trial.reset();
  state_.in_force = limit;
  return Done(DecisionKind::kPromote, current_, limit, std::move(sentence));
}

}  // namespace

Verdict Decide(const JobPolicy& policy, const Proposal& proposal, GateState& state) {
  Gate gate(policy, proposal, state);
  switch (policy.mode) {
    case Mode::kOff:
      return gate.Off();
    case Mode::kObserve:
      return gate.Observe();
    case Mode::kCanary:
    case Mode::kAuto:
      return gate.Apply();
  }
  return {};
}

}  // namespace taut::brain
