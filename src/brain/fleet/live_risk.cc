#include "brain/fleet/live_risk.h"

#include <algorithm>

#include "brain/fleet/live_starts.h"

namespace taut::brain {
namespace {

// A limit that follows from a recommendation. `set`: true if tasks have this limit.
struct PromisedLimit {
  double limit = 0;
  bool set = false;
};

// Returns the limit whose risk is counted; absent if the owner's limit is in force and no other limit is shown.
std::optional<PromisedLimit> PromisedLimitOf(const LiveJob& job, const LiveLane& lane, bool enforced) {
  if (lane.gate.in_force.has_value()) {
    if (!enforced) return PromisedLimit{*lane.gate.in_force, false};
    return PromisedLimit{lane.real_limit().value_or(*lane.gate.in_force), true};
  }
  if (job.policy->mode != Mode::kObserve || !lane.gate.shown.has_value()) return std::nullopt;
  return PromisedLimit{*lane.gate.shown, false};
}

}  // namespace

LimitRisk LiveRisk::Of(const LiveJob& job, Resource r, int32_t day) {
  const LiveLane& lane = job.of(r);
  const std::optional<double> limit = lane.lane.recommended();
  if (!limit.has_value() || lane.needs_history) return {};
  LimitRisk risk;
  risk.limit = *limit;
  if (lane.knows_risk_of(*limit)) risk = *lane.limit_risk;
  if (risk.chance >= 0) return risk;
  risk.days = static_cast<uint8_t>(lane.days.Count(DayRecord::What::kRecommended, day, kDays));
  risk.days_over = static_cast<uint8_t>(lane.days.Count(DayRecord::What::kOver, day, kDays));
  return risk;
}

std::optional<ProvisionalLimit> LiveRisk::ProvisionalOf(const LiveJob& job, Resource r) const {
  const LiveLane& lane = job.of(r);
  if (job.policy->mode == Mode::kOff || lane.needs_history || lane.lane.recommended().has_value() ||
      lane.lane.sleeps())
    return std::nullopt;
  return lane.lane.recommender().Provisional(s_.passed.next());
}

void LiveRisk::ExplainLane(const LiveJob& job, Resource r, Reason& reason) const {
  JobStepper::Explain(job.of(r), reason);
  if (r == Resource::kCpu) ExplainStarts(job, EnforcedWhereItRuns(s_, job), reason);
  if (r == Resource::kMemory) ExplainNeeded(job, reason);
  if (r == Resource::kCpu && ScaledByOf(*job.policy) == VerticalSettings::ScaledBy::kCpu &&
      job.replicas != nullptr) {
    job.replicas->ExplainSize(reason);
  }
}

Reason LiveRisk::Explain(JobId id, Resource r) const {
  Reason reason;
  const LiveJob* job = s_.jobs.Find(id);
  if (job == nullptr) return reason;
  const LiveLane& lane = job->of(r);
  reason.SetRisk(Of(*job, r, s_.passed.day()));
  if (!lane.lane.sleeps()) {
    ExplainLane(*job, r, reason);
    return reason;
  }
  Lane copy(nullptr);
  if (copy.Wake(s_.NewRecommenderOf(*job, r), lane.asleep).ok()) copy.recommender().Explain(reason);
  if (r == Resource::kCpu) ExplainStarts(*job, EnforcedWhereItRuns(s_, *job), reason);
  if (r == Resource::kMemory) ExplainNeeded(*job, reason);
  return reason;
}

void LiveRisk::BeginDay(const LiveJob& job, RiskKey key, double limit, int32_t day, LiveLane& lane) const {
  if (lane.risk.is_of(day)) return;
  const Resource r = key.resource;
  StatedPromise stated;
  if (lane.lane.recommended().has_value()) {
    WorkFunctionSettings work = s_.settings.vertical.work_function;
    work.job_order = job.policy->throttled;
    stated = StatedPromiseOf(lane.RiskOf(limit).forecast(), job.policy->recommenders().of(r), r, work);
    // No share of work is promised for limits that an external recommender or the size of a task determines.
    const bool its_own =
        !job.policy->external && ScaledByOf(*job.policy) == VerticalSettings::ScaledBy::kNothing;
    if (stated.promise != RiskPromise::kChance && !its_own) stated = {};
  }
  key.promise = stated.promise;
  key.job_class = job.policy->order_class(r);
  lane.risk.Begin(day, key, stated.share);
}

void LiveRisk::Count(const Signal& signal, const LiveJob& job, Resource r, LiveLane& lane) const {
  const std::optional<PromisedLimit> limit = PromisedLimitOf(job, lane, s_.Enforced(job));
  if (!limit.has_value()) return;
  const JobSize size = JobSizeOf(r, signal.owner_limit.value_or(limit->limit));
  BeginDay(job, {.resource = r, .set = limit->set, .size = size}, limit->limit, signal.window.day(), lane);
  if (lane.risk.key().set == limit->set) lane.risk.Add(signal, limit->limit, lane.trial());
}

void LiveRisk::CountKill(const OomRecord& oom, int32_t day, const LiveJob& job, LiveLane& lane) const {
  const std::optional<PromisedLimit> limit = PromisedLimitOf(job, lane, s_.Enforced(job));
  if (!limit.has_value()) return;
  const Trial* trial = lane.trial();
  const double its = trial != nullptr && trial->Has(oom.task) ? trial->limit : limit->limit;
  // A kill at an unknown limit is attributed to the limit in force. If the limit is only shown, the kill is not
  // counted.
  if (!limit->set && !oom.limit.has_value()) return;
  if (!WasAbove(oom.limit.value_or(its), its)) return;
  const JobSize size = JobSizeOf(Resource::kMemory, lane.owner().value_or(limit->limit));
  BeginDay(job, {.resource = Resource::kMemory, .set = limit->set, .size = size}, limit->limit, day, lane);
  lane.risk.AddOver();
}

void LiveRisk::EndDay(std::span<const FleetRow> rows, LiveLane& lane) {
  if (!lane.risk.is_of(s_.day)) return;
  RiskDay day = lane.risk.End();
  // The recommender's row also includes estimated work that the limit cut off.
  if (day.key.is_share() && !rows.empty() && rows.back().work.has_value()) {
    day.used = rows.back().work->used * kWindowSeconds;
    day.cut = std::min(rows.back().work->over * kWindowSeconds, day.used);
  }
  s_.risks.Add(day);
}

}  // namespace taut::brain
