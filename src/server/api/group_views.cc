#include "server/api/group_views.h"

#include <algorithm>

namespace taut::server {
namespace {

// Adds a job to the sums, like LiveFleet for the whole fleet.
void AddTo(const JobView& job, FleetPoint& point) {
  bool measured = false;
  for (const Resource r : kResources) {
    const JobAmounts& a = job.of(r);
    if (a.usage < 0) continue;
    measured = true;
    FleetAmounts& sum = point.amounts[static_cast<size_t>(r)];
    ++sum.jobs;
    sum.usage += double{a.usage} * job.tasks;
    if (a.owner_limit < 0) continue;
    ++sum.jobs_limited;
    sum.owner_limit += double{a.owner_limit} * job.tasks;
    sum.in_force += double{a.limit >= 0 ? a.limit : a.owner_limit} * job.tasks;
    sum.would_be += double{a.would_be >= 0 ? a.would_be : a.owner_limit} * job.tasks;
  }
  if (!measured) return;
  ++point.jobs;
  point.tasks += job.tasks;
  ++point.jobs_by_mode[static_cast<size_t>(job.mode)];
}

}  // namespace

std::shared_ptr<const FleetView> ViewWithin(const Reach& reach, const FleetView& view) {
  auto out = std::make_shared<FleetView>();
  out->window = view.window;
  if (view.window.has_value()) out->point.window = *view.window;
  const int64_t now_s = view.window.has_value() ? view.window->next().start_s() : INT64_MIN;
  for (const JobView& job : view.jobs) {
    if (job.record == nullptr || !reach.Has(*job.record)) continue;
    out->jobs.push_back(job);
    if (job.last_seen_s == now_s && !job.whole_machine) AddTo(job, out->point);
  }
  SumUp({}, *out);
  return out;
}

std::shared_ptr<const FleetView> GroupViews::Of(const Reach& reach,
                                                const std::shared_ptr<const FleetView>& view) {
  if (reach.all()) return view;
  const std::lock_guard lock(mutex_);
  if (of_ != view) {
    of_ = view;
    kept_.clear();
  }
  for (const auto& [of, kept] : kept_) {
    if (of == reach) return kept;
  }
  std::shared_ptr<const FleetView> made = ViewWithin(reach, *view);
  if (kept_.size() == kMostKept) kept_.erase(kept_.begin());
  kept_.emplace_back(reach, made);
  return made;
}

}  // namespace taut::server
