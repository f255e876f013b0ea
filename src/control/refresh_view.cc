// The snapshot that lists and sums are made from, after each pass.
#include <utility>

#include "control/control_plane.h"

namespace taut {

void ControlPlane::RefreshView(const FleetPoint* point) {
  auto next = std::make_shared<FleetView>();
  const std::shared_ptr<const FleetView> old = view();
  next->window = point != nullptr ? std::optional(point->window) : old->window;
  next->point = point != nullptr ? *point : old->point;
  const int32_t day = next->window.has_value() ? next->window->day() : 0;
  uint32_t chunks = 0;
  {
    const std::shared_lock fleet(fleet_mutex_);
    next->jobs.reserve(fleet_.size());
    chunks = fleet_.num_chunks();
  }
  for (uint32_t chunk = 0; chunk < chunks; ++chunk) {
    const std::shared_lock fleet(fleet_mutex_);
    if (!fleet_.ChunkHasJobs(chunk)) continue;
    for (uint32_t i = chunk * LiveFleet::kChunkJobs; i < (chunk + 1) * LiveFleet::kChunkJobs; ++i) {
      const std::shared_ptr<const LiveJob> job = fleet_.jobs().Share(JobId{i});
      if (job == nullptr) continue;
      next->jobs.push_back(ViewOf(fleet_, *job, day));
      next->jobs.back().record = std::shared_ptr<const JobRecord>(job, &job->record);
    }
  }
  if (point != nullptr) {
    const int32_t first = point->window.index - kWindowsPerDay + 1;
    while (!day_points_.empty() && day_points_.front().window.index < first) day_points_.pop_front();
    day_points_.push_back({point->window, point->oom_kills, point->changes});
  }
  for (const DayPoint& p : day_points_) {
    next->ooms_day += p.ooms;
    next->changes_day += p.changes;
  }
  std::array<FleetRisk, 2> risk;
  {
    const std::shared_lock fleet(fleet_mutex_);
    for (const Resource r : kResources) risk[static_cast<size_t>(r)] = RiskOf(fleet_, *next, r);
  }
  SumUp(risk, *next);
  IndexView(*old, *next);
  const std::lock_guard lock(view_mutex_);
  view_ = std::move(next);
}

// Not before the first pass: a start does not wait for it.
void ControlPlane::IndexView(const FleetView& old, FleetView& next) {
  const FleetRecords records = [this] {
    const std::shared_lock fleet(fleet_mutex_);
    return fleet_.records();
  }();
  if (old.index != nullptr && records == indexed_ && old.jobs.size() == next.jobs.size()) {
    next.index = old.index;
    return;
  }
  {
    const std::lock_guard lock(view_mutex_);
    if (!restored_) return;
  }
  std::vector<const JobRecord*> jobs;
  jobs.reserve(next.jobs.size());
  for (const JobView& job : next.jobs) jobs.push_back(job.record.get());
  next.index = std::make_shared<const JobIndex>(jobs, old.index.get(), records.labels == indexed_.labels);
  indexed_ = records;
}

}  // namespace taut
