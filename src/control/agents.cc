// What agents say: tasks, windows and OOM kills that come as such, not as series.
#include <algorithm>
#include <cmath>

#include "control/control_plane.h"

namespace taut {
namespace {

constexpr size_t kOomsLookedAt = 16;

// What a sender can get wrong without its bytes being damaged.
bool IsSane(const ReportedWindow& w) {
  const TaskWindow& f = w.figures;
  for (const float v : {f.cpu_mean_cores, f.cpu_peak_cores, f.memory_mean_bytes, f.memory_peak_bytes,
                        w.cpu_limit_cores, w.memory_limit_bytes}) {
    if (!std::isfinite(v)) return false;
  }
  int last = -1;
  for (const BucketWeight& b : w.cpu_buckets) {
    if (b.bucket <= last || b.bucket >= Grid::Cpu().size()) return false;
    if (!(b.weight > 0) || b.weight > 2 * kWindowSeconds) return false;
    last = b.bucket;
  }
  return f.cpu_mean_cores >= 0 || f.memory_mean_bytes >= 0;
}

}  // namespace

std::optional<TaskRef> ControlPlane::Announce(const AgentTask& task, Timestamp now) {
  const std::lock_guard lock(ingest_mutex_);
  const std::optional<uint32_t> slot = ingest_->TaskSlot(task.job, task.task, task.labels, NowFor(now));
  if (!slot.has_value()) return std::nullopt;
  const SeriesBinding& binding = ingest_->mapper().binding(*slot);
  return TaskRef{binding.job, binding.task};
}

absl::Status ControlPlane::TakeWindow(const AgentTask& task, ReportedWindow window, Timestamp now) {
  const std::lock_guard lock(ingest_mutex_);
  if (absl::Status s = CheckRoom(); !s.ok()) return s;
  if (!IsSane(window)) return absl::InvalidArgumentError("figures that no window can have");
  now = NowFor(now);
  const std::optional<uint32_t> slot = ingest_->TaskSlot(task.job, task.task, task.labels, now);
  if (!slot.has_value()) return absl::OkStatus();
  ingest_->TakeWindow(*slot, std::move(window), now);
  newest_sample_ = std::max(newest_sample_, ingest_->windows().newest_sample());
  if (last_watermark_.us == INT64_MIN) last_watermark_ = newest_sample_;
  return absl::OkStatus();
}

absl::Status ControlPlane::TakeOom(const AgentTask& task, Timestamp time, uint64_t kills,
                                   std::optional<double> limit, Timestamp now) {
  // Stored before a stop, but the agent was not told: it tells it again.
  if (const std::optional<JobId> job = Find(task.job); job.has_value()) {
    const absl::StatusOr<std::vector<OomRecord>> stored =
        parts_.history->Ooms(*job, time.seconds(), kOomsLookedAt);
    if (!stored.ok()) return stored.status();
    const auto same = [&](const OomRecord& o) { return o.time_s == time.seconds(); };
    if (std::any_of(stored->begin(), stored->end(), same)) return absl::OkStatus();
  }
  const std::lock_guard lock(ingest_mutex_);
  const std::optional<uint32_t> slot = ingest_->TaskSlot(task.job, task.task, task.labels, NowFor(now));
  if (slot.has_value()) ingest_->TakeOom(*slot, time, kills, limit);
  return absl::OkStatus();
}

void ControlPlane::SeeTime(Timestamp t) {
  if (options_.clock != ClockSource::kSamples) return;
  const std::lock_guard lock(ingest_mutex_);
  newest_sample_ = std::max(newest_sample_, t);
  if (last_watermark_.us == INT64_MIN) last_watermark_ = newest_sample_;
}

void ControlPlane::HoldWindows(bool hold) {
  const std::lock_guard lock(ingest_mutex_);
  hold_windows_ = hold;
}

std::optional<StandingTerms> ControlPlane::Standing(const TaskRef& ref) const {
  const std::shared_lock fleet(fleet_mutex_);
  if (ref.job.value >= fleet_.size()) return std::nullopt;
  const LiveJob& job = fleet_.job(ref.job);
  StandingTerms terms{.mode = job.policy->mode, .in_force = {}, .upper = {}};
  for (const Resource r : kResources) {
    const LiveLane& lane = job.of(r);
    const auto i = static_cast<size_t>(r);
    terms.in_force[i] = lane.gate.in_force;
    const std::optional<Trial>& trial = lane.gate.trial;
    if (trial.has_value() && !trial->watched && InTrial(ref.task, lane.tasks, job.policy->canary.share)) {
      terms.in_force[i] = trial->limit;
    }
    terms.upper[i] = job.policy->bounds(r).upper;
  }
  return terms;
}

}  // namespace taut
