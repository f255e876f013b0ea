#include "server/control/what_if.h"

#include <algorithm>
#include <utility>

#include "brain/fleet/job_stepper.h"
#include "brain/fleet/stored_history.h"
#include "common/model/oom_counts.h"

namespace taut::server {
namespace {

struct Variant {
  brain::Policy recommender;
  brain::VerticalSettings settings;
  brain::JobPolicy policy;
};

// The gate acts as in mode auto, regardless of the job's mode. In mode observe, the result is therefore the limit
// that mode auto would set.
Variant Now(const WhatIfQuery& query) {
  Variant v{query.policy->recommenders().of(query.resource),
            brain::SettingsFor(*query.policy, *query.settings), *query.policy};
  v.policy.mode = Mode::kAuto;
  return v;
}

Variant Changed(const WhatIfQuery& query) {
  Variant v = Now(query);
  const WhatIfChange& c = query.change;
  if (c.recommender.has_value()) v.recommender = brain::PolicyFor(*c.recommender, query.resource);
  for (const auto& [knob, value] : c.knobs) knob->set(value, v.settings);
  brain::BoundSettings& bounds = v.settings.bounds_by[IndexOf(query.resource)];
  if (c.lower.has_value()) bounds.lower = c.lower;
  if (c.upper.has_value()) bounds.upper = c.upper;
  v.policy.bounds_by[IndexOf(query.resource)] = bounds;
  return v;
}

// Returns true if usage exceeded the limit, or a kill shows that usage would have exceeded it.
bool IsOver(const Signal& signal, std::span<const OomRecord> ooms, double limit) {
  const auto reached = [&](const OomRecord& o) {
    return !IsAside(o) && WasAbove(o.limit.value_or(signal.peak), limit);
  };
  return signal.peak > limit || std::any_of(ooms.begin(), ooms.end(), reached);
}

// Adds a window to the lane's figures.
void Score(const Signal& signal, std::span<const OomRecord> ooms, std::optional<double> limit,
           bool first_of_day, WhatIfLane& lane, bool& over_today) {
  if (first_of_day) {
    ++lane.days;
    over_today = false;
  }
  if (!lane.limit.empty() && limit != lane.limit.back()) ++lane.changes;
  lane.limit.push_back(limit);
  if (!limit.has_value()) return;
  ++lane.windows;
  lane.mean_limit += *limit;
  if (!IsOver(signal, ooms, *limit)) return;
  ++lane.windows_over;
  if (!over_today) ++lane.days_over;
  over_today = true;
}

WhatIfLane Live(const Variant& variant, const WhatIfQuery& query, std::span<const JobDay> days,
                std::span<const OomRecord> ooms) {
  brain::FleetModels models =
      query.fleet->ForecastersFor(variant.recommender, query.resource, variant.settings);
  JobInfo job;
  job.name = query.job;
  brain::ManagedLane lane(
      brain::Lane(brain::NewRecommender(variant.recommender, query.resource, job, variant.settings, models)));
  WhatIfLane out;
  out.recommender = variant.recommender;
  double owner_sum = 0, limit_sum = 0;
  int32_t scored_day = INT32_MIN;
  bool over_today = false;
  const auto score = [&](const Signal& s, std::span<const OomRecord> killed) {
    if (s.window < query.score_from) return;
    const std::optional<double> limit = lane.LimitInForce(s.owner_limit);
    const bool first_of_day = s.window.day() != std::exchange(scored_day, s.window.day());
    Score(s, killed, limit, first_of_day, out, over_today);
    if (!limit.has_value() || !s.owner_limit.has_value()) return;
    owner_sum += *s.owner_limit;
    limit_sum += *limit;
  };
  std::vector<uint32_t> tasks;
  const auto decide = [&](const Signal& s, std::span<const OomRecord> killed) {
    brain::JobStepper stepper(query.resource, lane);
    stepper.Observe({.resource = query.resource, .signal = &s, .reports = {}});
    stepper.DecideWindow(variant.policy, s, !killed.empty(), tasks);
  };
  brain::DaySignals signals;
  brain::StepHistory({.resource = query.resource,
                      .days = days,
                      .ooms = ooms,
                      .decisions = query.decisions,
                      .memory_signal = variant.settings.memory_signal},
                     signals, lane, {.begins = score, .closes = decide});
  if (out.windows > 0) out.mean_limit /= out.windows;
  if (owner_sum > 0) out.saved_share = 1 - limit_sum / owner_sum;
  return out;
}

}  // namespace

WhatIfResult WhatIf(const WhatIfQuery& query, std::span<const JobDay> days, std::span<const OomRecord> ooms) {
  WhatIfResult result;
  if (ThrottlesAtLimit(query.resource)) ooms = {};
  for (const OomRecord& o : ooms) {
    if (o.time_s >= query.score_from.start_s()) result.oom_kills += o.kills;
  }
  brain::DaySignals signals;
  for (const JobDay& day : days) {
    signals.Build(day, query.resource);
    for (const Signal& s : signals.signals()) {
      if (s.window < query.score_from) continue;
      result.time_s.push_back(s.window.start_s());
      result.usage_peak.push_back(static_cast<float>(s.peak));
      result.owner_limit.push_back(s.owner_limit);
    }
  }
  result.now = Live(Now(query), query, days, ooms);
  result.whatif = Live(Changed(query), query, days, ooms);
  return result;
}

}  // namespace taut::server
