#include "rollout/replica_gate.h"

#include <cmath>
#include <string>
#include <utility>

#include "base/strings.h"
#include "model/units.h"
#include "rollout/maintenance.h"

namespace taut {
namespace {

std::string Tasks(int count) { return FormatAmount(Target::Replicas(), count); }

Verdict Hold(std::string sentence) {
  Verdict v;
  v.sentence = std::move(sentence);
  return v;
}

Verdict Done(DecisionKind kind, std::optional<int> before, std::optional<int> after, std::string sentence) {
  return {kind, before, after, std::move(sentence)};
}

Verdict Release(std::string_view mode, const ReplicaProposal& p, ReplicaGateState& state) {
  const std::optional<int> before = std::exchange(state.in_force, std::nullopt);
  state.reached = false;
  state.elsewhere = 0;
  state.last_change_s = p.now_s;
  return Done(DecisionKind::kRelease, before, std::nullopt,
              StrCat("mode ", mode, ": the owner sets the number of tasks again"));
}

Verdict Observe(const ReplicaProposal& p, ReplicaGateState& state) {
  if (state.in_force.has_value()) return Release("observe", p, state);
  if (!p.recommended.has_value()) return Hold("no recommendation yet");
  const int last = state.shown.value_or(p.running);
  if (*p.recommended == last) return {};
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
  if (*p.recommended == current) return {};
  if (*p.recommended < current) {
    if (state.elsewhere > 0) {
      return Hold(StrCat(Tasks(p.running), " run instead of the ordered ", current,
                         ": no lower number is ordered until it is known whether another program set it"));
    }
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
  state.reached = false;
  state.elsewhere = 0;
  state.last_change_s = p.now_s;
  return Done(DecisionKind::kSet, current, p.recommended,
              StrCat(Tasks(*p.recommended), " instead of ", current));
}

}  // namespace

void NoteRunning(int running, int64_t now_s, ReplicaGateState& state) {
  if (!state.in_force.has_value()) return;
  if (running == *state.in_force) {
    state.reached = true;
    state.elsewhere = 0;
    return;
  }
  if (!state.reached || ++state.elsewhere < kForeignWindows) return;
  state.in_force.reset();
  state.reached = false;
  state.elsewhere = 0;
  state.step_back_until_s = now_s + kStepBackSeconds;
}

Verdict DecideReplicas(const JobPolicy& policy, const ReplicaProposal& proposal, ReplicaGateState& state) {
  switch (policy.replica_policy.empty() ? Mode::kOff : policy.mode) {
    case Mode::kOff:
      state.shown.reset();
      return state.in_force.has_value() ? Release("off", proposal, state) : Verdict();
    case Mode::kObserve:
      return Observe(proposal, state);
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
  if (decision.kind == DecisionKind::kWouldSet) {
    state.shown = after;
    return;
  }
  state.in_force = after;
  state.shown.reset();
  state.reached = false;
  state.elsewhere = 0;
  state.last_change_s = decision.time_s;
}

void ReplicaGateState::Save(ByteWriter& out) const {
  out.Put(in_force.value_or(-1));
  out.Put(shown.value_or(-1));
  out.Put(last_change_s);
  out.Put(static_cast<uint8_t>(reached));
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
  read.reached = in.Get<uint8_t>() != 0;
  read.elsewhere = in.Get<uint8_t>();
  read.step_back_until_s = in.Get<int64_t>();
  if (absl::Status s = in.status("the state of a replica gate"); !s.ok()) return s;
  *this = read;
  return absl::OkStatus();
}

}  // namespace taut
