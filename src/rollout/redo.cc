#include "rollout/gate.h"

namespace taut {

void Redo(const Decision& d, GateState& state) {
  if (d.kind == DecisionKind::kWouldSet) {
    state.shown = d.after;
    return;
  }
  state.last_change_s = d.time_s;
  if (d.kind == DecisionKind::kTry) {
    state.trial = Trial{
        .limit = d.after.value_or(0), .old_limit = d.before, .since_s = d.time_s, .tasks = {}, .rest = {}};
    return;
  }
  if (d.kind == DecisionKind::kRollBack) {
    if (state.trial.has_value()) state.rolled_back_limit = state.trial->limit;
    state.rolled_back_s = d.time_s;
  } else {
    state.in_force = d.after;
  }
  state.trial.reset();
}

}  // namespace taut
