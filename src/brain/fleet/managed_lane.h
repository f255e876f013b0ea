// A lane behind its gate: what the recommender asks for, what policy lets through, and the limit that tasks
// run at. The daemon and a replay in one of its modes step it alike.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "brain/fleet/lane.h"
#include "brain/rollout/gate.h"
#include "common/base/boxed.h"
#include "common/model/limit_risk.h"

namespace taut::brain {

struct ManagedLane {
  explicit ManagedLane(Lane its_lane) : lane(std::move(its_lane)) {}

  Lane lane;
  GateState gate;
  // Of the recommended limit, as RefreshRisk last found it; absent: nothing is forecast of it or ordered.
  Boxed<LimitRisk> limit_risk;

  // Of the tasks outside a trial. Absent: unlimited.
  std::optional<double> LimitInForce(std::optional<double> owner) const {
    return gate.in_force.has_value() ? gate.in_force : owner;
  }
  // The trial that runs on some tasks; nullptr: none does, or it is only watched.
  const Trial* trial() const {
    return gate.trial.has_value() && !gate.trial->watched ? &*gate.trial : nullptr;
  }
  // After each step that may have moved the recommended limit or what is forecast of it.
  void RefreshRisk();
  bool knows_risk_of(double limit) const { return limit_risk.has_value() && limit_risk->limit == limit; }
  // What a promise of this limit is stated of. Of the recommended limit it is as of its decision, although the
  // fleet may have learnt since.
  LimitRisk RiskOf(double limit) const {
    return knows_risk_of(limit) ? *limit_risk : lane.recommender().RiskOf(limit);
  }
};

// Takes in a closed window: both sides of a trial are counted, and the recommender learns, by the limit that
// was in force. Where limits are applied, usage above that limit could not show. Refreshes the risk.
void CloseWindow(const TrialWindow& window, ManagedLane& lane);

// Of the window closed last.
struct LaneFacts {
  Resource resource = Resource::kCpu;
  int64_t now_s = 0;
  std::optional<double> owner_limit;
  uint32_t num_tasks = 0;
  // As of Proposal: the tasks that a limit can be tried on; nullptr: no window has just been closed.
  const std::vector<uint32_t>* tasks = nullptr;
  bool oom = false;    // a task was just killed
  bool grows = false;  // a task will soon be at its limit
  LimitsApplied applied = LimitsApplied::kNo;
  bool knows_past = true;  // false: the recommender knows only what a kill asks for
  // Nothing lower is decided, within the policy's bounds. Absent in a replay.
  std::optional<double> at_least = {};
  // The most that the kernel saw a task have lately: no cut goes below it. Absent in a replay.
  std::optional<double> kernel_peak = {};
};

// Where limits are applied, and tasks are killed at them, a limit is lowered by at most this share at a time, and
// not within kLookSeconds after a change. A replay and a dry run lower it at once.
inline constexpr double kMostCut = 0.5;
inline constexpr int64_t kLookSeconds = 2 * kWindowSeconds;

// Decides by the recommendation as it stands.
Verdict DecideLimit(const JobPolicy& policy, const LaneFacts& facts, ManagedLane& lane);

// The decisions at the end of a window in which no limit was applied, as in a replay: one at once where a
// task was `killed`, and that of every window. After CloseWindow and Lane::Oom. A limit can be tried on all
// tasks of `signal`; `tasks` is scratch. Returns how often a trial moved the limit of its tasks, there or
// back.
uint32_t DecideWindow(const JobPolicy& policy, Resource r, const Signal& signal, bool killed,
                      ManagedLane& lane, std::vector<uint32_t>& tasks);

}  // namespace taut::brain
