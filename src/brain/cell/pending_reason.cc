#include "brain/cell/pending_reason.h"

#include <algorithm>
#include <limits>

#include "brain/cell/preemption.h"
#include "common/base/strings.h"

namespace taut::brain {
namespace {

constexpr size_t kNamedVictims = 3;

// Sets `missing` to the missing amount of each resource. Returns the sum of (missing amount / required amount).
double Missing(const CellState& state, const CellClass& c, uint32_t machine, CellAmounts& missing) {
  double share = 0;
  for (size_t r = 0; r < state.index().resources(); ++r) {
    missing[r] = state.counts().entry(c)[r] - state.space().free(r, machine);
    if (c.production)
      missing[r] = std::max(missing[r], c.limit[r] - state.space().production_free(r, machine));
    missing[r] = std::max<int64_t>(0, missing[r]);
    if (missing[r] > 0)
      share += static_cast<double>(missing[r]) / static_cast<double>(state.counts().need(c)[r]);
  }
  return share;
}

std::string CountsText(const PendingReason& reason, const CellModel& model) {
  std::string out;
  const auto add = [&](uint32_t n, std::string_view what) {
    if (n > 0) StrAppend(&out, out.empty() ? "" : ", ", n, " ", what);
  };
  add(reason.out_of_service, "out of service");
  add(reason.no_attribute, "without an attribute that the job asks for");
  add(reason.too_small, "too small even if empty");
  add(reason.spread, "in domains that have enough tasks of the job");
  add(reason.own_job, "with enough tasks of the job");
  for (size_t r = 0; r < model.resources.size(); ++r)
    add(reason.no_room[r], StrCat("with too little free ", model.resources[r].name));
  add(reason.feasible, "with room");
  return out;
}

std::string NearestText(const PendingReason& reason, const CellState& state) {
  const CellModel& model = state.index().model();
  std::string amounts;
  for (size_t r = 0; r < model.resources.size(); ++r) {
    if (reason.missing[r] > 0)
      StrAppend(&amounts, amounts.empty() ? "" : " and ", AmountText(model.resources[r], reason.missing[r]));
  }
  const std::string& machine = model.machines[state.model_machine(reason.nearest)].name;
  std::string out = StrCat(" It fits on machine ", machine, " if it asks for ", amounts, " less");
  for (size_t i = 0; i < std::min(kNamedVictims, reason.victims.size()); ++i) {
    const uint32_t job = state.index().job_of(reason.victims[i]);
    StrAppend(&out, i == 0 ? ", or without " : ", ", model.jobs[job].name, "/",
              reason.victims[i] - state.index().first_task(job));
  }
  if (reason.victims.size() > kNamedVictims)
    StrAppend(&out, " and ", reason.victims.size() - kNamedVictims, " other tasks");
  return out + ".";
}

}  // namespace

PendingReason ExplainPending(MachineScores& scores, uint32_t job) {
  CellState& state = scores.state();
  const CellModel& model = state.index().model();
  const CellClass& c = state.index().class_of(job);
  if (c.job != UINT32_MAX) state.CountJob(job);
  PendingReason reason;
  reason.machines = static_cast<uint32_t>(state.machines());
  double least = std::numeric_limits<double>::infinity();
  for (uint32_t m = 0; m < reason.machines; ++m) {
    CellAmounts missing = {};
    switch (scores.Obstacle(c, m)) {
      case CellObstacle::kNone:
        ++reason.feasible;
        continue;
      case CellObstacle::kOutOfService:
        ++reason.out_of_service;
        continue;
      case CellObstacle::kAttribute:
        ++reason.no_attribute;
        continue;
      case CellObstacle::kSpread:
        ++reason.spread;
        continue;
      case CellObstacle::kOwnJob:
        ++reason.own_job;
        continue;
      case CellObstacle::kTooSmall:
        ++reason.too_small;
        break;
      case CellObstacle::kFree:
        break;
    }
    const double share = Missing(state, c, m, missing);
    if (scores.Obstacle(c, m) == CellObstacle::kFree)
      ++reason.no_room[static_cast<size_t>(std::ranges::find_if(missing, [](int64_t a) { return a > 0; }) -
                                           missing.begin())];
    if (share >= least || scores.Rules(c, m) == kInfeasible) continue;
    least = share;
    reason.nearest = m;
    reason.missing = missing;
  }
  reason.sentence =
      StrCat("Of ", reason.machines,
             reason.machines == 1 ? " machine: " : " machines: ", CountsText(reason, model), ".");
  if (reason.nearest == kNowhere) return reason;
  CellTier top = CellTier::kFree;
  bool limits_fit = true;
  for (size_t r = 0; r < model.resources.size(); ++r)
    limits_fit =
        limits_fit && (!c.production || c.limit[r] <= state.space().production_free(r, reason.nearest));
  if (limits_fit && TierBelow(model.jobs[job].tier, top))
    reason.victims = VictimsOn(state, reason.nearest, MissingReservation(state, c, reason.nearest), top);
  reason.sentence += NearestText(reason, state);
  return reason;
}

}  // namespace taut::brain
