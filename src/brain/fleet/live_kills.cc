// To which limit a kill is charged, and what is the first answer to it.
#include <algorithm>

#include "brain/fleet/live_fleet.h"
#include "brain/recommend/wrappers.h"

namespace taut::brain {
namespace {

// Limits this close to each other are one: kernels round.
constexpr double kSameLimit = 0.99;
// Above what a line through usage gives.
constexpr double kRoomForGrowth = 0.15;

}  // namespace

std::optional<double> LiveFleet::LimitAtKill(const LiveJob& job, const OomRecord& oom,
                                             int64_t since_s) const {
  const LiveLane& lane = job.of(Resource::kMemory);
  if (!Enforced(job)) return lane.owner();
  const Trial* const trial = lane.trial();
  if (trial != nullptr && trial->Has(oom.task) && oom.time_s >= trial->since_s) return trial->limit;
  if (job.memory == nullptr) return lane.limit();
  return job.memory->past_limits.LowestIn(since_s, oom.time_s, lane.limit());
}

std::optional<double> LiveFleet::OwnersAnswer(const LiveJob& job, const OomRecord& oom) const {
  const LiveLane& lane = job.of(Resource::kMemory);
  const std::optional<double> owner = lane.owner(), in_force = lane.gate.in_force;
  if (!Enforced(job) || !owner.has_value() || !in_force.has_value() || *in_force >= *owner) return {};
  // A kill under a limit that was raised since is answered already.
  return oom.limit.value_or(*in_force) >= kSameLimit * *in_force ? owner : std::nullopt;
}

std::vector<std::pair<JobId, double>> LiveFleet::LoweredLimits() const {
  std::vector<std::pair<JobId, double>> out;
  for (const LiveJob& job : jobs_) {
    const LiveLane& lane = job.of(Resource::kMemory);
    const bool is_ordered = lane.gate.in_force.has_value() && lane.trial() == nullptr;
    if (!is_ordered || !Enforced(job) || AppliedTo(job) == LimitsApplied::kAgentsReport) continue;
    if (lane.owner().has_value() && *lane.gate.in_force < *lane.owner())
      out.emplace_back(job.record.id, *lane.gate.in_force);
  }
  return out;
}

void LiveFleet::TakeGrowth(JobId id, double bytes, int64_t now_s, PassOutput& out) {
  if (!Has(id)) return;
  LiveJob& job = Awake(id);
  const LiveLane& lane = job.of(Resource::kMemory);
  const std::optional<double> owner = lane.owner(), in_force = lane.gate.in_force;
  if (!owner.has_value() || !in_force.has_value() || bytes <= *in_force || *in_force >= *owner) return;
  const OomSettings& bump = settings_.vertical.oom;
  const double wanted = std::max(bytes * (1 + kRoomForGrowth), OomBump(*in_force, bump));
  if (passed_.index != INT32_MIN) now_s = std::max(now_s, passed_.next().start_s() + 1);
  Changed(job);
  DecideLane(job, Resource::kMemory, now_s, Why::kGrowth, out, std::min(wanted, *owner));
}

// Half of the half-life: all slices together are four of them.
int32_t LiveFleet::PeakSlice(int64_t now_s) const {
  const double slice_s = settings_.vertical.moving_window.memory_half_life_s / 2;
  return static_cast<int32_t>(static_cast<double>(now_s) / std::max(slice_s, double{kWindowSeconds}));
}

void LiveFleet::TakeKernelPeaks(JobId id, const KernelPeaks& peaks, WindowId window) {
  LiveJob* const job = jobs_.Find(id);
  if (job == nullptr) return;
  StandingPeaks& standing = job->Memory().standing_peaks;
  double bytes = peaks.risen;
  for (const float peak : peaks.met) {
    if (!standing.Meet(peak)) bytes = std::max(bytes, double{peak});
  }
  standing.Set(peaks.standing);
  Changed(*job);
  if (bytes <= 0) return;
  const LiveLane& lane = job->of(Resource::kMemory);
  const std::optional<double> limit = Enforced(*job) ? lane.real_limit() : lane.owner();
  if (limit.has_value() && bytes >= kSameLimit * *limit) return;
  job->Memory().kernel_peaks.Note(PeakSlice(window.next().start_s()), bytes);
}

void LiveFleet::NoteSentOrder(uint64_t decision, JobId job) {
  memory_orders_[decision] = job;
  constexpr size_t kMostOrders = 100'000;  // of which no outcome came
  if (memory_orders_.size() <= kMostOrders) return;
  absl::erase_if(memory_orders_, [&](const auto& order) {
    const LiveJob* const its_job = jobs_.Find(order.second);
    return its_job == nullptr || its_job->memory == nullptr || !its_job->memory->past_limits.Has(order.first);
  });
}

void LiveFleet::NoteSent(const Decision& d, int64_t now_s) {
  LiveJob* const job = d.target == Target(Resource::kMemory) ? jobs_.Find(d.job) : nullptr;
  if (job == nullptr || job->memory == nullptr || !job->memory->past_limits.Has(d.id)) return;
  job->memory->past_limits.NoteSent(d.id, now_s);
  NoteSentOrder(d.id, d.job);
}

void LiveFleet::RememberSent(const Decision& d) {
  LiveJob* const job = d.target == Target(Resource::kMemory) ? jobs_.Find(d.job) : nullptr;
  if (job == nullptr || !RowOf(d.kind).sets_all_tasks) return;
  PastLimits& past = job->Memory().past_limits;
  if (!past.Has(d.id)) past.Note(d.id, d.time_s, d.before);
  past.NoteOutcome(d.id, d.outcome, d.outcome_time_s);
  NoteSentOrder(d.id, d.job);
}

void LiveFleet::RememberAllSent(JobId id, std::span<const Decision> decisions) {
  jobs_[id].Memory().past_limits = PastLimits();
  for (const Decision& d : decisions) RememberSent(d);
}

bool LiveFleet::IsLastOrder(const Decision& d) const {
  const LiveJob* const job = jobs_.Find(d.job);
  if (job == nullptr || d.target != Target(Resource::kMemory)) return false;
  const GateState& gate = job->of(Resource::kMemory).gate;
  return gate.last_change_s == d.time_s && gate.in_force == d.after;
}

}  // namespace taut::brain
