#include "brain/rollout/replica_gate.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>

#include "brain/rollout/gate_parts.h"
#include "brain/rollout/maintenance.h"
#include "common/base/strings.h"
#include "common/model/units.h"

namespace taut::brain {
namespace {

constexpr uint8_t kMostUnreached = 200;  // highest value of the counters

std::string Tasks(int count) { return FormatAmount(Target::Replicas(), count); }

Verdict Done(DecisionKind kind, std::optional<int> before, std::optional<int> after, std::string sentence) {
  return {kind, before, after, std::move(sentence)};
}

Verdict Release(std::string_view mode, const ReplicaProposal& p, ReplicaGateState& state) {
  const std::optional<int> before = std::exchange(state.in_force, std::nullopt);
  state.reached = false;
  state.elsewhere = state.unreached = 0;
  state.last_change_s = p.now_s;
  return Done(DecisionKind::kRelease, before, std::nullopt,
              StrCat("mode ", mode, ": the owner sets the number of tasks again"));
}

// Returns the reason why a number lower than `current` waits after reversals; "" if it does not wait.
std::string WhyNotSettled(const JobPolicy& policy, const ReplicaProposal& p, int current,
                          const ReplicaDamping& damping) {
  const double hold_s = damping.HoldSeconds(policy.replica_settle_s);
  if (*p.recommended >= current || hold_s <= 0) return "";
  const auto since_s = static_cast<double>(p.now_s - damping.last_rise_s);
  if (since_s < 0 || since_s >= hold_s) return "";
  return StrCat(damping.reversals,
                damping.reversals == 1 ? " lower number was" : " lower numbers in a row were",
                " taken back within hours; the next one waits ", FormatDuration(std::llround(hold_s)),
                " after the rise ", FormatDuration(std::llround(since_s)), " ago (replicas.settle)");
}

Verdict Observe(const JobPolicy& policy, const ReplicaProposal& p, ReplicaGateState& state) {
  if (state.in_force.has_value()) return Release("observe", p, state);
  if (!p.recommended.has_value()) return Hold("no recommendation yet");
  const int last = state.shown.value_or(p.running);
  if (std::string why = WhyNotSettled(policy, p, last, state.damping); !why.empty())
    return Hold(std::move(why));
  if (*p.recommended == last) return {};
  state.damping.NoteChange(last, *p.recommended, p.now_s);
  state.shown = p.recommended;
  return Done(DecisionKind::kWouldSet, last, p.recommended, StrCat("would be ", Tasks(*p.recommended)));
}

Verdict Apply(const JobPolicy& policy, const ReplicaProposal& p, ReplicaGateState& state) {
  state.shown.reset();
  if (p.now_s < state.step_back_until_s) {
    return Hold(StrCat("the number of tasks changed to ", p.running,
                       " without an order: another program may set it, or tasks fail; no order until ",
                       FormatTime(state.step_back_until_s), " UTC"));
  }
  if (!p.recommended.has_value()) return Hold("no recommendation yet");
  const int current = state.in_force.value_or(p.running);
  const bool same = *p.recommended == current;
  std::string unsettled = WhyNotSettled(policy, p, current, state.damping);
  if (same && !p.repeats) return {};
  const int from = same ? p.running : current;  // a failed order has changed nothing
  if (*p.recommended < from) {
    if (state.elsewhere > 0 || state.rolling) {
      return Hold(StrCat(Tasks(p.running), " run instead of the ordered ", current,
                         ": no lower number is ordered until it is known whether another program set it"));
    }
    if (!unsettled.empty()) return Hold(std::move(unsettled));
    const double since = state.last_change_s == INT64_MIN
                             ? policy.replica_change_period_s
                             : static_cast<double>(p.now_s) - static_cast<double>(state.last_change_s);
    if (since < policy.replica_change_period_s) {
      return Hold(StrCat("last change ", FormatDuration(std::llround(since)), " ago; a lower number waits ",
                         FormatDuration(std::llround(policy.replica_change_period_s)),
                         " (replicas.change_period)"));
    }
    if (!InMaintenance(policy.maintenance, p.now_s)) {
      return Hold(
          StrCat("a lower number waits for the maintenance window, ", MaintenanceText(policy.maintenance)));
    }
  }
  state.in_force = p.recommended;
  // A new order resets `elsewhere` only if the last order was reached, because consecutive orders may all remain
  // unreached.
  if (state.reached) state.elsewhere = 0;
  state.reached = false;
  state.nearest = std::abs(p.running - *p.recommended);
  state.last_change_s = p.now_s;
  state.damping.NoteChange(current, *p.recommended, p.now_s);
  if (same) {
    return Done(DecisionKind::kSet, p.running, p.recommended,
                StrCat(Tasks(*p.recommended), " once more: that order failed"));
  }
  return Done(DecisionKind::kSet, current, p.recommended,
              StrCat(Tasks(*p.recommended), " instead of ", current));
}

}  // namespace

std::string Describe(const ReplicaStepBack& step_back) {
  return StrCat(Tasks(step_back.running), " run instead of the ordered ", step_back.ordered,
                " without an order: another program may set their number, or tasks fail; no order until ",
                FormatTime(step_back.until_s), " UTC");
}

std::optional<ReplicaStepBack> NoteRunning(const RunningTasks& tasks, ReplicaGateState& state) {
  if (!state.in_force.has_value()) return std::nullopt;
  state.rolling = false;
  if (tasks.running == *state.in_force) {
    state.reached = true;
    state.elsewhere = state.unreached = 0;
    return std::nullopt;
  }
  bool counts = tasks.started == 0;
  if (!state.reached) {
    const int distance = std::abs(tasks.running - *state.in_force);
    counts = counts && state.nearest >= 0 && distance > state.nearest;
    state.nearest = state.nearest < 0 ? distance : std::min(state.nearest, distance);
    if (state.unreached < kMostUnreached) ++state.unreached;
  }
  if (!counts) {
    state.elsewhere = 0;
    state.rolling = state.reached;
    return std::nullopt;
  }
  // A task that takes several windows to start delays the evidence by the same number of windows.
  const int more = tasks.startup_windows - 1;
  if (state.elsewhere < kMostUnreached) ++state.elsewhere;
  if (state.elsewhere < kForeignWindows + more) return std::nullopt;
  if (!state.reached && state.unreached < kUnreachedWindows + more) return std::nullopt;
  const ReplicaStepBack out{.ordered = *state.in_force,
                            .running = tasks.running,
                            .time_s = tasks.now_s,
                            .until_s = tasks.now_s + kStepBackSeconds};
  state.in_force.reset();
  state.reached = false;
  state.elsewhere = state.unreached = 0;
  state.nearest = -1;
  state.step_back_until_s = out.until_s;
  return out;
}

Verdict DecideReplicas(const JobPolicy& policy, const ReplicaProposal& proposal, ReplicaGateState& state) {
  switch (policy.replica_policy.empty() ? Mode::kOff : policy.mode) {
    case Mode::kOff:
      state.shown.reset();
      return state.in_force.has_value() ? Release("off", proposal, state) : Verdict();
    case Mode::kObserve:
      return Observe(policy, proposal, state);
    case Mode::kCanary:
    case Mode::kAuto:
      break;
  }
  return Apply(policy, proposal, state);
}

void Redo(const Decision& decision, ReplicaGateState& state) {
  const std::optional<int> after = decision.after.has_value()
                                       ? std::optional(static_cast<int>(std::lround(*decision.after)))
                                       : std::nullopt;
  if (decision.before.has_value() && after.has_value())
    state.damping.NoteChange(static_cast<int>(std::lround(*decision.before)), *after, decision.time_s);
  if (decision.kind == DecisionKind::kWouldSet) {
    state.shown = after;
    return;
  }
  state.in_force = after;
  state.shown.reset();
  state.reached = false;
  state.elsewhere = 0;
  if (decision.kind == DecisionKind::kRelease) state.unreached = 0;
  state.nearest = -1;
  state.last_change_s = decision.time_s;
}

void ReplicaDamping::NoteChange(int before, int after, int64_t now_s) {
  if (after < before) last_fall_s = now_s;
  if (after <= before) return;
  last_rise_s = now_s;
  const bool takes_back = last_fall_s != INT64_MIN && now_s - last_fall_s <= kReversalSeconds;
  reversals = takes_back ? static_cast<uint8_t>(std::min(reversals + 1, 100)) : 0;
}

double ReplicaDamping::HoldSeconds(double settle_s) const {
  return reversals == 0 ? 0 : settle_s * std::min(std::exp2(reversals - 1), kMostSettles);
}

void ReplicaDamping::Save(ByteWriter& out) const {
  out.Put(last_rise_s);
  out.Put(last_fall_s);
  out.Put(reversals);
}

void ReplicaDamping::Load(ByteReader& in) {
  last_rise_s = in.Get<int64_t>();
  last_fall_s = in.Get<int64_t>();
  reversals = in.Get<uint8_t>();
}

void ReplicaGateState::Save(ByteWriter& out) const {
  out.Put(in_force.value_or(-1));
  out.Put(shown.value_or(-1));
  out.Put(last_change_s);
  // One byte stores two fields. Older versions wrote `reached` as 0 or 1; a higher value is `unreached` plus 1.
  out.Put(static_cast<uint8_t>(reached ? 1 : unreached > 0 ? unreached + 1 : 0));
  out.Put(elsewhere);
  out.Put(step_back_until_s);
}

absl::Status ReplicaGateState::Load(ByteReader& in) {
  ReplicaGateState read;
  for (std::optional<int>* count : {&read.in_force, &read.shown}) {
    const auto value = in.Get<int>();
    if (value < -1) return absl::DataLossError(StrCat("a number of tasks of ", value));
    if (value >= 0) *count = value;
  }
  read.last_change_s = in.Get<int64_t>();
  const auto reached_or_not = in.Get<uint8_t>();
  read.reached = reached_or_not == 1;
  if (reached_or_not > 1) read.unreached = std::min<uint8_t>(reached_or_not - 1, kMostUnreached);
  read.elsewhere = in.Get<uint8_t>();
  read.step_back_until_s = in.Get<int64_t>();
  if (absl::Status s = in.status("the state of a replica gate"); !s.ok()) return s;
  *this = read;
  return absl::OkStatus();
}

}  // namespace taut::brain
