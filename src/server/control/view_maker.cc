#include "server/control/view_maker.h"

#include <utility>

namespace taut::server {

void ViewMaker::Refresh(const FleetPoint* point) {
  auto next = std::make_shared<FleetView>();
  const std::shared_ptr<const FleetView> old = status_.view();
  next->window = point != nullptr ? std::optional(point->window) : old->window;
  next->point = point != nullptr ? *point : old->point;
  const int32_t day = next->window.has_value() ? next->window->day() : 0;
  uint32_t chunks = 0;
  {
    const auto fleet = fleet_.Read();
    next->jobs.reserve(fleet->size());
    chunks = fleet->checkpoint.num_chunks();
  }
  // The lock is released after each chunk. The caller holds Committer::writer(), so that nothing changes in
  // between.
  for (uint32_t chunk = 0; chunk < chunks; ++chunk) {
    const auto fleet = fleet_.Read();
    if (!fleet->checkpoint.ChunkHasJobs(chunk)) continue;
    for (uint32_t i = chunk * brain::LiveFleet::kChunkJobs; i < (chunk + 1) * brain::LiveFleet::kChunkJobs;
         ++i) {
      const brain::LiveJob* const job = fleet->jobs.Find(JobId{i});
      if (job != nullptr) next->jobs.push_back(ViewOf(*fleet, *job, day));
    }
  }
  CountDay(point, *next);
  PerResource<brain::FleetRisk> risk;
  {
    const auto fleet = fleet_.Read();
    for (const Resource r : kResources) risk[static_cast<size_t>(r)] = RiskOf(*fleet, *next, r);
    next->risks = fleet->risks;
  }
  SumUp(risk, *next);
  Index(*old, *next);
  status_.Show(std::move(next));
}

void ViewMaker::CountDay(const FleetPoint* point, FleetView& next) {
  if (point != nullptr) {
    const int32_t first = point->window.index - kWindowsPerDay + 1;
    while (!day_points_.empty() && day_points_.front().window.index < first) day_points_.pop_front();
    day_points_.push_back({point->window, point->oom_kills, point->changes});
  }
  for (const DayPoint& p : day_points_) {
    next.ooms_day += p.ooms;
    next.changes_day += p.changes;
  }
}

void ViewMaker::Seed(std::span<const FleetPoint> points) {
  for (const FleetPoint& p : points.first(points.size() - 1))
    day_points_.push_back({p.window, p.oom_kills, p.changes});
}

void ViewMaker::Index(const FleetView& old, FleetView& next) {
  const brain::FleetRecords records = fleet_.Read()->records;
  if (old.index != nullptr && records == indexed_ && old.jobs.size() == next.jobs.size()) {
    next.index = old.index;
    return;
  }
  if (!status_.restored()) return;
  std::vector<const JobRecord*> jobs;
  jobs.reserve(next.jobs.size());
  for (const JobView& job : next.jobs) jobs.push_back(job.record.get());
  next.index = std::make_shared<const JobIndex>(jobs, old.index.get(), records.labels == indexed_.labels);
  indexed_ = records;
}

}  // namespace taut::server
