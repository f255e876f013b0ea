// Forgetting jobs whose tasks are gone, and knowing them again when they return.
#include "control/control_plane.h"
#include "control/unsaved.h"

namespace taut {
namespace {

constexpr size_t kMostAtATime = 50'000;

}  // namespace

absl::Status ControlPlane::ForgetJobs(WindowId now) {
  // Once an hour is plenty. Windows that wait may hold usage of a job that is due.
  if (now.index % kWindowsPerHour != 0 || !waiting_.empty()) return absl::OkStatus();
  std::vector<JobId> due;
  {
    const std::shared_lock fleet(fleet_mutex_);
    due = fleet_.DueToForget(now, options_.forget_jobs_days, kMostAtATime);
  }
  {
    const std::lock_guard lock(ingest_mutex_);
    SeriesMapper& mapper = ingest_->mapper();
    mapper.DropForgotten(now.day() - options_.return_days);
    // Series that still come, such as a limit's, keep a job.
    std::erase_if(due, [&](JobId id) { return !mapper.ForgetJob(id, now.day()); });
  }
  if (due.empty()) return absl::OkStatus();
  {
    const std::unique_lock fleet(fleet_mutex_);
    for (const JobId id : due) fleet_.Forget(id);
  }
  unsaved_->forgotten_jobs = std::move(due);
  unsaved_->forgotten_s = now.next().start_s();
  return CommitUnsaved();
}

void ControlPlane::RestoreForgotten(WindowId now) {
  const int64_t from_s = (int64_t{now.day()} - options_.return_days) * kDaySeconds;
  const absl::Status s =
      parts_.store->ReadForgotten(from_s, [this](const JobRecord& job, int64_t forgotten_s) {
        const WindowId when = WindowId::Of(Timestamp::FromSeconds(forgotten_s));
        ingest_->mapper().RememberForgotten(job.id, job.name, when.day());
      });
  if (!s.ok()) warnings_.push_back("jobs that were forgotten: " + std::string(s.message()));
}

std::optional<OomSource> ControlPlane::oom_source(JobId id) const {
  const std::lock_guard lock(ingest_mutex_);
  const SeriesMapper& mapper = ingest_->mapper();
  return mapper.HasJob(id) && mapper.num_slots(id) > 0 ? std::optional(mapper.oom_source(id)) : std::nullopt;
}

std::string ControlPlane::NameCollision(JobId id) const {
  const std::lock_guard lock(ingest_mutex_);
  const SeriesMapper& mapper = ingest_->mapper();
  return mapper.HasJob(id) ? mapper.Collision(id) : "";
}

size_t ControlPlane::state_bytes() const {
  size_t bytes = view()->jobs.capacity() * sizeof(JobView);
  {
    const std::lock_guard lock(ingest_mutex_);
    bytes += ingest_->mapper().state_bytes() + ingest_->windows().state_bytes();
  }
  const std::shared_lock fleet(fleet_mutex_);
  return bytes + fleet_.state_bytes();
}

}  // namespace taut
