#include "brain/rollout/gate.h"

namespace taut::brain {

void Redo(const Decision& d, GateState& state) {
  if (d.kind == DecisionKind::kWouldSet) {
    state.shown = d.after;
    state.last_shown_s = d.time_s;
    return;
  }
  state.shown.reset();
  state.last_change_s = d.time_s;
  if (d.kind == DecisionKind::kTry) {
    Trial& trial = state.trial.emplace();
    trial.limit = d.after.value_or(0);
    trial.old_limit = d.before;
    trial.since_s = d.time_s;
    trial.decision = d.id;
    return;
  }
  if (d.kind == DecisionKind::kRollBack) {
    // The decision does not record whether the limit failed. VerticalPass stores a checkpoint with most
    // roll-backs, and the checkpoint records whether the limit failed.
    if (state.trial.has_value()) {
      state.rolled_back_limit = state.trial->limit;
      state.rolled_back_s = d.time_s;
    }
  } else {
    state.in_force = d.after;
  }
  state.trial.reset();
}

}  // namespace taut::brain
