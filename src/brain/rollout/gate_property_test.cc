// Tests invariants of the gate under random sequences of proposals.
#include <algorithm>

#include "brain/rollout/gate.h"
#include "brain/rollout/maintenance.h"
#include "common/base/byte_units.h"
#include "common/base/time.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace taut::brain {
namespace {

struct Step {
  Mode mode;
  Proposal proposal;
  double usage;
  uint64_t kills;
};

struct Run {
  JobPolicy policy;
  std::vector<Step> steps;
};

Run AnyRun() {
  Run run;
  run.policy.change_period_s = *rc::gen::element(0.0, 900.0, 3600.0, 86400.0);
  run.policy.min_change = *rc::gen::element(0.0, 0.05, 0.3);
  run.policy.canary.hours = *rc::gen::element(0.5, 2.0, 24.0);
  run.policy.canary.share = *rc::gen::element(0.1, 0.5, 0.9);
  run.policy.canary.min_task_windows = *rc::gen::element(1.0, 20.0);
  if (*rc::gen::arbitrary<bool>()) run.policy.maintenance = *ParseMaintenance("Thu 02:00-05:00; 22:00-03:00");
  Mode mode = static_cast<Mode>(*rc::gen::inRange(0, kNumModes));
  int64_t now = *rc::gen::inRange(0, 86400);
  double recommended = kGiB;
  const int steps = *rc::gen::inRange(1, 200);
  for (int i = 0; i < steps; ++i) {
    if (*rc::gen::inRange(0, 30) == 0) mode = static_cast<Mode>(*rc::gen::inRange(0, kNumModes));
    if (*rc::gen::inRange(0, 3) == 0) recommended = *rc::gen::inRange(64, 4096) * kMiB;
    const bool oom = *rc::gen::inRange(0, 12) == 0;
    now += oom ? 60 : 300;
    Proposal p = {.resource = Resource::kMemory,
                  .now_s = now,
                  .owner_limit = std::nullopt,
                  .recommended = recommended,
                  .oom = oom,
                  .num_tasks = *rc::gen::element(0U, 1U, 1U, 2U, 10U)};
    if (*rc::gen::inRange(0, 10) != 0) p.owner_limit = 2 * kGiB;
    if (*rc::gen::inRange(0, 20) == 0) p.recommended.reset();
    run.steps.push_back({mode, p, *rc::gen::inRange(16, 1024) * kMiB, oom ? 1U : 0U});
  }
  return run;
}

Verdict Take(const Step& step, JobPolicy policy, GateState& state) {
  policy.mode = step.mode;
  const uint32_t n = step.proposal.num_tasks;
  if (step.proposal.oom) {
    CountTrialOom(0, step.kills, std::nullopt, state);
  } else {
    std::vector<TaskUsage> tasks;
    for (uint32_t t = 0; t < n; ++t) {
      tasks.push_back({t, static_cast<float>(step.usage), static_cast<float>(step.usage)});
    }
    Signal signal;
    signal.tasks = tasks;
    CountTrialWindow({Resource::kMemory, &signal, {}}, state);
  }
  Proposal proposal = step.proposal;
  std::vector<uint32_t> alive;
  for (uint32_t t = 0; t < n; ++t) alive.push_back(t);
  if (!proposal.oom) proposal.tasks = &alive;
  return Decide(policy, proposal, state);
}

bool GoesAtOnce(DecisionKind kind) {
  return kind == DecisionKind::kOomRaise || kind == DecisionKind::kRollBack || kind == DecisionKind::kRelease;
}

RC_GTEST_PROP(GateProperty, ChangesKeepToPeriodAndMaintenance, ()) {
  const Run run = AnyRun();
  GateState state;
  int64_t last = INT64_MIN / 2, last_shown = INT64_MIN / 2;
  for (const Step& step : run.steps) {
    const Verdict v = Take(step, run.policy, state);
    if (!v.kind.has_value()) continue;
    const int64_t now = step.proposal.now_s;
    const bool raise = v.before.has_value() && v.after.has_value() && *v.after > *v.before;
    const double period = run.policy.change_period_s / (raise ? 6 : 1);
    if (*v.kind == DecisionKind::kWouldSet) {
      RC_ASSERT(step.proposal.oom || static_cast<double>(now - last_shown) >= period);
      last_shown = now;
      continue;
    }
    if (!GoesAtOnce(*v.kind)) {
      RC_ASSERT(static_cast<double>(now - last) >= period);
      RC_ASSERT(InMaintenance(run.policy.maintenance, now));
    }
    last = now;
  }
}

RC_GTEST_PROP(GateProperty, EveryVerdictFitsItsModeAndTheLimitInForce, ()) {
  const Run run = AnyRun();
  GateState state;
  for (const Step& step : run.steps) {
    const std::optional<double> was = state.in_force;
    const bool tried = state.trial.has_value() && !state.trial->watched;
    const Verdict v = Take(step, run.policy, state);
    if (v.kind.has_value()) {
      RC_ASSERT(!v.sentence.empty());
      if (*v.kind == DecisionKind::kSet || *v.kind == DecisionKind::kPromote ||
          *v.kind == DecisionKind::kOomRaise) {
        RC_ASSERT(v.after == state.in_force && v.after.has_value());
        if (v.before.has_value() && *v.kind == DecisionKind::kOomRaise) RC_ASSERT(*v.after > *v.before);
      } else if (*v.kind == DecisionKind::kRelease) {
        RC_ASSERT(was.has_value() || tried);
      } else {
        RC_ASSERT(state.in_force == was);
      }
      if (*v.kind == DecisionKind::kTry) RC_ASSERT(step.mode == Mode::kCanary && step.proposal.num_tasks > 1);
      if (*v.kind == DecisionKind::kRollBack) RC_ASSERT(tried && !state.trial.has_value());
    } else {
      RC_ASSERT(state.in_force == was);
    }
    if (step.mode == Mode::kOff || step.mode == Mode::kObserve) {
      RC_ASSERT(!state.in_force.has_value() && !state.trial.has_value());
    }
    if (step.mode == Mode::kOff) RC_ASSERT(!v.kind.has_value() || *v.kind == DecisionKind::kRelease);
  }
}

// A restart applies stored decisions that are newer than the checkpoint.
RC_GTEST_PROP(GateProperty, DecisionsDoneAgainComeToTheSameState, ()) {
  const Run run = AnyRun();
  GateState state, again;
  for (const Step& step : run.steps) {
    const Verdict v = Take(step, run.policy, state);
    if (!v.kind.has_value()) continue;
    Decision d;
    d.kind = *v.kind;
    d.before = v.before;
    d.after = v.after;
    d.time_s = step.proposal.now_s;
    Redo(d, again);
    RC_ASSERT(again.in_force == state.in_force && again.last_change_s == state.last_change_s);
    RC_ASSERT(again.shown == state.shown && again.last_shown_s == state.last_shown_s);
    RC_ASSERT(again.trial.has_value() == state.trial.has_value());
    if (!state.trial.has_value()) continue;
    RC_ASSERT(again.trial->limit == state.trial->limit && again.trial->since_s == state.trial->since_s);
    RC_ASSERT(again.trial->old_limit == state.trial->old_limit);
  }
}

RC_GTEST_PROP(GateProperty, SavedAndLoadedInTheMiddleChangesNothing, ()) {
  const Run run = AnyRun();
  const auto stop = static_cast<size_t>(*rc::gen::inRange(0, static_cast<int>(run.steps.size())));
  GateState whole, halves;
  for (size_t i = 0; i < run.steps.size(); ++i) {
    if (i == stop) {
      std::string bytes;
      ByteWriter out(&bytes);
      halves.Save(out);
      for (size_t cut = 0; cut < bytes.size(); ++cut) {
        ByteReader in(std::string_view(bytes).substr(0, cut));
        GateState refused;
        RC_ASSERT(!refused.Load(in).ok());
      }
      GateState loaded;
      ByteReader in(bytes);
      RC_ASSERT(loaded.Load(in).ok() && in.remaining() == 0);
      halves = loaded;
    }
    const Verdict a = Take(run.steps[i], run.policy, whole), b = Take(run.steps[i], run.policy, halves);
    RC_ASSERT(a.kind == b.kind && a.before == b.before && a.after == b.after && a.sentence == b.sentence);
  }
}

}  // namespace
}  // namespace taut::brain
