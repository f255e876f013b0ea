#include "brain/fleet/live_orders.h"

#include <algorithm>

namespace taut::brain {
namespace {

constexpr double kMostFloorCores = 1;
constexpr double kMostFloorBytes = 1 << 30;

}  // namespace

void LiveOrders::Note(uint64_t decision, JobId job) {
  of_memory_[decision] = job;
  constexpr size_t kMostOrders = 100'000;  // maximum number of orders without a final outcome
  if (of_memory_.size() <= kMostOrders) return;
  absl::erase_if(of_memory_, [&](const auto& order) {
    const LiveJob* const its_job = s_.jobs.Find(order.second);
    return its_job == nullptr || its_job->memory == nullptr || !its_job->memory->past_limits.Has(order.first);
  });
}

void LiveOrders::NoteSent(const Decision& d, int64_t now_s) {
  LiveJob* const job = d.target == Target(Resource::kMemory) ? s_.jobs.Find(d.job) : nullptr;
  if (job == nullptr || job->memory == nullptr || !job->memory->past_limits.Has(d.id)) return;
  job->memory->past_limits.NoteSent(d.id, now_s);
  Note(d.id, d.job);
}

void LiveOrders::RememberSent(const Decision& d) {
  LiveJob* const job = d.target == Target(Resource::kMemory) ? s_.jobs.Find(d.job) : nullptr;
  if (job == nullptr || !RowOf(d.kind).sets_all_tasks) return;
  PastLimits& past = job->Memory().past_limits;
  if (!past.Has(d.id)) past.Note(d.id, d.time_s, d.before);
  past.NoteOutcome(d.id, d.outcome, d.outcome_time_s);
  Note(d.id, d.job);
}

void LiveOrders::RememberAllSent(JobId id, std::span<const Decision> decisions) {
  s_.jobs[id].Memory().past_limits = PastLimits();
  for (const Decision& d : decisions) RememberSent(d);
}

bool LiveOrders::IsLast(const Decision& d) const {
  const LiveJob* const job = s_.jobs.Find(d.job);
  if (job == nullptr || d.target != Target(Resource::kMemory)) return false;
  const GateState& gate = job->of(Resource::kMemory).gate;
  return gate.last_change_s == d.time_s && gate.in_force == d.after;
}

void LiveOrders::TakeOutcome(const OutcomeUpdate& outcome) {
  trials_.TakeOutcome(outcome);
  replicas_.TakeOutcome(outcome.id, outcome.outcome);
  if (const auto it = of_memory_.find(outcome.id); it != of_memory_.end()) {
    LiveJob* const job = s_.jobs.Find(it->second);
    if (job != nullptr && job->memory != nullptr)
      job->memory->past_limits.NoteOutcome(outcome.id, outcome.outcome, outcome.time_s);
    // A failed order may still be applied when it is repeated, so the order stays in the map.
    const bool is_last = outcome.outcome != Outcome::kPending && outcome.outcome != Outcome::kFailed;
    if (job == nullptr || is_last) of_memory_.erase(it);
  }
  if (!outcome.minimum.has_value() || !outcome.target.is_limit()) return;
  const Resource resource = outcome.target.resource();
  // Minima of kernels and engines are a few megabytes or millicores; a higher reported minimum is wrong.
  if (*outcome.minimum > (InCores(resource) ? kMostFloorCores : kMostFloorBytes)) return;
  const std::optional<JobId> id = s_.Find(outcome.job);
  if (!id.has_value()) return;
  double& floor = s_.jobs[*id].of(resource).gate.floor;
  floor = std::max(floor, *outcome.minimum);
}

}  // namespace taut::brain
