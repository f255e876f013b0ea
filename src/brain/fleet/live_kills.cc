// Attributes an OOM kill to the limit that was in force, and computes the first decision after the kill.
#include "brain/fleet/live_kills.h"

#include <algorithm>

#include "brain/recommend/wrappers.h"
#include "common/base/probe.h"
#include "common/model/oom_counts.h"

namespace taut::brain {
namespace {

// Two limits are equal if their ratio is at least kSameLimit, because kernels round limits.
constexpr double kSameLimit = 0.99;
// Margin above the extrapolated usage of a growing task.
constexpr double kRoomForGrowth = 0.15;

}  // namespace

void LiveKills::TakeOom(OomRecord& oom, PassOutput& out, When when, const KillTimes& times) {
  oom.id = ++s_.last_oom;
  if (!s_.Has(oom.job)) {
    TAUT_PROBE("an OOM kill of an unknown job");
    return;
  }
  LiveJob& job = s_.Awake(oom.job);
  oom.kills = std::min(oom.kills, kMostKillsAtOnce);
  if (IsAside(oom)) {
    TakeInAside(job, oom);
    out.point.oom_kills += static_cast<uint32_t>(oom.kills);
    return;
  }
  // This assignment must precede TakeIn, which attributes the kill to oom.limit.
  if (!oom.limit.has_value()) oom.limit = LimitAtKill(job, oom, std::min(times.since_s, oom.time_s));
  TakeIn(job, oom);
  out.point.oom_kills += static_cast<uint32_t>(oom.kills);
  if (when == When::kPast) return;
  // The decision must be later than all previous decisions, even if the kill is reported late, because a restart
  // processes kills and decisions in this order.
  const int64_t now_s = DecisionTime(s_, std::max(oom.time_s, times.now_s));
  pass_.DecideLane(job, Resource::kMemory, now_s, Trigger::kOom, out, OwnersAnswer(job, oom));
}

std::optional<double> LiveKills::LimitAtKill(const LiveJob& job, const OomRecord& oom,
                                             int64_t since_s) const {
  const LiveLane& lane = job.of(Resource::kMemory);
  if (!s_.Enforced(job)) return lane.owner();
  const Trial* const trial = lane.trial();
  if (trial != nullptr && trial->Has(oom.task) && oom.time_s >= trial->since_s) return trial->limit;
  if (job.memory == nullptr) return lane.limit();
  return job.memory->past_limits.LowestIn(since_s, oom.time_s, lane.limit());
}

std::optional<double> LiveKills::OwnersAnswer(const LiveJob& job, const OomRecord& oom) const {
  const LiveLane& lane = job.of(Resource::kMemory);
  const std::optional<double> owner = lane.owner(), in_force = lane.gate.in_force;
  if (!s_.Enforced(job) || !owner.has_value() || !in_force.has_value() || *in_force >= *owner) return {};
  // A kill at a limit below the current limit needs no decision, because the limit has been raised since the kill.
  return oom.limit.value_or(*in_force) >= kSameLimit * *in_force ? owner : std::nullopt;
}

void LiveKills::TakeIn(LiveJob& job, const OomRecord& oom) {
  s_.Changed(job);
  LiveLane& lane = job.of(Resource::kMemory);
  job.NoteOom(oom);
  WindowId window = WindowId::Of(Timestamp::FromSeconds(oom.time_s));
  job.CountOoms(window.day(), oom.kills);
  // Without enforcement, the owner's limit killed the task; the lower limit of the trial would have killed it,
  // too.
  const TrialKill trial{.kills = oom.kills, .limit = s_.Enforced(job) ? oom.limit : std::nullopt};
  // Recommenders accept only kills in the last closed window or in the open window.
  if (job.last_window.index != INT32_MIN)
    window = std::clamp(window, job.last_window, job.last_window.next());
  StartDay(job, window.day());
  // Usage could not exceed the limit that killed the task. A recommended limit that is not higher would
  // therefore have been exceeded, too.
  const std::optional<double> recommended = lane.lane.recommended();
  if (recommended.has_value() && *recommended <= oom.limit.value_or(*recommended))
    lane.days.Mark(window.day(), DayRecord::What::kOver);
  if (oom.limit.has_value()) lane.days.Mark(window.day(), DayRecord::What::kAtLimit);
  risk_.CountKill(oom, window.day(), job, lane);
  const double killed_at = oom.limit.value_or(std::max(0.0F, lane.usage_peak));
  JobStepper(Resource::kMemory, lane).ObserveKill({window, oom.task, killed_at}, trial);
}

void LiveKills::TakeInAside(LiveJob& job, const OomRecord& oom) {
  s_.Changed(job);
  job.NoteOom(oom);
  job.CountOoms(WindowId::Of(Timestamp::FromSeconds(oom.time_s)).day(), oom.kills);
}

void LiveKills::Redo(const OomRecord& oom) {
  if (!s_.Has(oom.job)) {
    TAUT_PROBE("a stored OOM kill of an unknown job");
    return;
  }
  // The checkpoint includes kills up to the highest processed id, which may differ from the id of the latest
  // kill. Checkpoints of older versions have a time instead of an id.
  const LiveJob& job = s_.jobs[oom.job];
  const auto known = known_.try_emplace(oom.job.value, job.last_oom_s, job.last_oom());
  const auto& [last_s, last] = known.first->second;
  if (last > 0 ? oom.id <= last : oom.time_s <= last_s) {
    TAUT_PROBE("a stored OOM kill that the checkpoint has");
    return;
  }
  IsAside(oom) ? TakeInAside(s_.jobs[oom.job], oom) : TakeIn(s_.Awake(oom.job), oom);
}

std::vector<std::pair<JobId, double>> LiveKills::LoweredLimits() const {
  std::vector<std::pair<JobId, double>> out;
  for (const LiveJob& job : s_.jobs) {
    const LiveLane& lane = job.of(Resource::kMemory);
    const bool is_ordered = lane.gate.in_force.has_value() && lane.trial() == nullptr;
    if (!is_ordered || !s_.Enforced(job) || s_.AppliedTo(job) == LimitsApplied::kAgentsReport) continue;
    if (lane.owner().has_value() && *lane.gate.in_force < *lane.owner())
      out.emplace_back(job.record->id, *lane.gate.in_force);
  }
  return out;
}

void LiveKills::TakeGrowth(JobId id, double bytes, int64_t now_s, PassOutput& out) {
  if (!s_.Has(id)) return;
  LiveJob& job = s_.Awake(id);
  const LiveLane& lane = job.of(Resource::kMemory);
  const std::optional<double> owner = lane.owner(), in_force = lane.gate.in_force;
  if (!owner.has_value() || !in_force.has_value() || bytes <= *in_force || *in_force >= *owner) return;
  const OomSettings& bump = s_.settings.vertical.oom;
  const double wanted = std::max(bytes * (1 + kRoomForGrowth), OomBump(*in_force, bump));
  now_s = DecisionTime(s_, now_s);
  s_.Changed(job);
  pass_.DecideLane(job, Resource::kMemory, now_s, Trigger::kGrowth, out, std::min(wanted, *owner));
}

void LiveKills::TakeKernelPeaks(JobId id, const JobKernelPeaks& peaks, WindowId window) {
  LiveJob* const job = s_.jobs.Find(id);
  if (job == nullptr) return;
  StandingPeaks& standing = job->Memory().standing_peaks;
  double bytes = peaks.risen;
  for (const float peak : peaks.met) {
    if (!standing.Meet(peak)) bytes = std::max(bytes, double{peak});
  }
  standing.Set(peaks.standing);
  s_.Changed(*job);
  if (bytes <= 0) return;
  const LiveLane& lane = job->of(Resource::kMemory);
  const std::optional<double> limit = s_.Enforced(*job) ? lane.real_limit() : lane.owner();
  if (limit.has_value() && bytes >= kSameLimit * *limit) return;
  job->Memory().kernel_peaks.Note(PeakSlice(s_.settings.vertical, window.next().start_s()), bytes);
}

}  // namespace taut::brain
