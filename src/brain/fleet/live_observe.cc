// A closed window goes to the lanes of its jobs.
#include <algorithm>

#include "brain/fleet/live_fleet.h"
#include "brain/fleet/live_starts.h"
#include "common/model/said_replicas.h"
#include "common/model/whole_machine.h"

namespace taut::brain {
namespace {

void AddCounts(const FleetPoint& from, FleetPoint& to) {
  to.jobs += from.jobs;
  to.tasks += from.tasks;
  for (size_t mode = 0; mode < to.jobs_by_mode.size(); ++mode)
    to.jobs_by_mode[mode] += from.jobs_by_mode[mode];
  for (size_t r = 0; r < to.amounts.size(); ++r)
    to.amounts[r].job_windows_over += from.amounts[r].job_windows_over;
}

// An amount that reads back what was ordered is the owner's of before: kube-state-metrics and cAdvisor say what a
// pod has, not who set it. Another one is the owner's, and an order of before is over once tasks have had time to
// follow. Returns whether it is read back.
bool DropReadBack(WindowId window, Resource r, LiveJob& job, float& amount) {
  constexpr int64_t kFollowSeconds = 3600;
  if (amount < 0) return false;
  LiveLane& lane = job.of(r);
  const int64_t since_s = window.next().start_s() - kFollowSeconds;
  // More than one order may have been replaced since.
  const bool was_ordered =
      r == Resource::kMemory && job.memory != nullptr &&
      job.memory->past_limits.AnySince(since_s, [&](double limit) { return IsAtLimit(r, amount, limit); });
  if (was_ordered || lane.IsOrdered(r, amount) || (r == Resource::kCpu && IsStartLimit(job, amount))) {
    amount = lane.owner_before;
    return true;
  }
  if (lane.gate.last_change_s < since_s) lane.ordered_before = kAbsent;
  return false;
}

// The owner's, beside a limit. A series that does not come takes nothing back.
void TakeRequest(const JobWindowData& data, Resource r, LiveLane& lane) {
  const float request = data.requests.of(r);
  if (lane.of_request || lane.owner_limit < 0) {
    lane.owner_request = kAbsent;
  } else if (request > 0) {
    lane.owner_request = request;
  }
}

}  // namespace

void RunInOrder(size_t count, absl::FunctionRef<void(size_t turn)> turn) {
  for (size_t i = 0; i < count; ++i) turn(i);
}

void LiveFleet::StartDay(LiveJob& job, int32_t day) {
  if (job.day == day) return;
  if (job.seen_today) {
    FleetRows ignored;  // the fleet closed that day without this row, or knows it already
    for (const Resource r : kResources) JobStepper(r, job.of(r)).EndDay(job.day, ignored);
    job.seen_today = job.over_today = false;
  }
  job.day = day;
  for (const Resource r : kResources) JobStepper(r, job.of(r)).StartDay(day);
}

void LiveFleet::TakeOwnersAmounts(ClosedWindow& closed, size_t first, size_t last) {
  for (JobWindowData& data : std::span(closed.jobs).subspan(first, last - first)) {
    LiveJob* job = jobs_.Find(data.job);
    if (job == nullptr) continue;
    for (const Resource r : kResources) {
      TakeOwnersAmount(job->policy->allocation(r), r, data);
      // Agents know what they have set from what they found.
      if (settings_.enforcement != Enforcement::kAlways || data.num_reports > 0) continue;
      // The request beside it is ours, too.
      if (DropReadBack(closed.window, r, *job, data.window.limit(r)))
        data.requests.*OwnerRequests::kFields[IndexOf(r)] = kAbsent;
    }
  }
}

void LiveFleet::Observe(const ClosedWindow& closed, size_t first, size_t last, PassOutput& out, When when,
                        RunTurns run) {
  if (first == 0) {
    // A day whose last window has no usage ends when the next one begins.
    if (day_ != INT32_MIN && closed.window.day() > day_) EndDay(out, when);
    day_ = closed.window.day();
    out.point.window = closed.window;
    now_ = closed.window;
    passed_ = std::max(passed_, closed.window);
  }
  indices_.clear();
  for (size_t i = first; i < last; ++i) {
    indices_.push_back(static_cast<uint32_t>(i));
    if (when == When::kNow && closed.jobs[i].window.num_tasks > 0)
      jobs_[closed.jobs[i].job].measured_now = true;
  }
  ObserveJobs(closed, indices_, &out.point, run);
}

void LiveFleet::ObserveJobs(const ClosedWindow& closed, std::span<const uint32_t> indices, FleetPoint* point,
                            RunTurns run) {
  for (const uint32_t i : indices) Changed(closed.jobs[i].job);
  turns_.resize(kTurnsAtATime);
  for (; !indices.empty(); indices = indices.subspan(std::min(indices.size(), kTurnsAtATime * kTurnJobs))) {
    const size_t jobs = std::min(indices.size(), kTurnsAtATime * kTurnJobs);
    const size_t count = (jobs + kTurnJobs - 1) / kTurnJobs;
    run(count, [&](size_t t) {
      const size_t begin = t * kTurnJobs;
      ObserveTurn(closed, indices.subspan(begin, std::min(kTurnJobs, jobs - begin)), point != nullptr,
                  turns_[t]);
    });
    if (point == nullptr) continue;
    for (const Turn& turn : std::span(turns_).first(count)) AddCounts(turn.point, *point);
  }
}

void LiveFleet::ObserveTurn(const ClosedWindow& closed, std::span<const uint32_t> indices, bool counts,
                            Turn& turn) {
  turn.point = FleetPoint();
  for (const uint32_t i : indices) ObserveJob(closed, i, counts ? &turn.point : nullptr, turn);
}

void LiveFleet::ObserveJob(const ClosedWindow& closed, size_t index, FleetPoint* point, Turn& turn) {
  ToJobDay(closed, index, turn.job_day);
  LiveJob& job = Awake(turn.job_day.job);
  // Stored windows have it among their signals.
  const SaidReplicas& now = closed.jobs[index].replicas;
  const SaidReplicas said = now.known() ? now : SaidOf(turn.job_day.signals);
  if (job.policy->startup_window_s > 0 || job.starts != nullptr) ObserveStarts(turn.job_day, job);
  if (closed.jobs[index].window.num_tasks == 0) return ObserveIdle(turn.job_day, said, job);
  StartDay(job, closed.window.day());
  job.seen_today = true;
  // It is new, or its tasks are back: its owner may have changed the settings meanwhile.
  if (awaits_owners_ && job.last_window.next() < closed.window) job.awaits_owner = true;
  job.last_window = closed.window;
  uint32_t most_tasks = 0;
  const bool is_machine = IsWholeMachine(job.record);
  const JobWindowData& data = closed.jobs[index];
  const auto reports = std::span(closed.reports).subspan(data.first_report, data.num_reports);
  const auto throttling = std::span(closed.throttling).subspan(data.first_throttling, data.num_throttling);
  // Stored windows come without reports.
  if (point != nullptr || !reports.empty()) TakeReports(job, reports, throttling);
  for (const Resource r : kResources) {
    LiveLane& lane = job.of(r);
    turn.signals.Build(turn.job_day, r, job.policy->memory_signal);
    if (turn.signals.empty()) {
      lane.usage_mean = lane.usage_peak = lane.need_peak = kAbsent;
      lane.tasks = 0;
      continue;
    }
    const Signal& signal = turn.signals.signals().front();
    const auto tasks = static_cast<uint32_t>(signal.tasks.size());
    double sum = 0;
    for (const TaskUsage& t : signal.tasks) sum += t.mean;
    const std::optional<double> would_be = lane.lane.LimitInForce(signal.owner_limit);
    const bool over = would_be.has_value() && signal.peak > *would_be;
    job.over_today = job.over_today || over;
    MarkDay(signal, job, lane);
    CountRisk(signal, job, r, lane);
    JobStepper(r, lane).Observe({r, &signal, reports, AppliedTo(job), throttling});
    if (signal.usage_peak.has_value())
      sum = signal.together(Resource::kMemory).value_or(sum);  // of usage, too
    lane.usage_mean = static_cast<float>(sum / tasks);
    lane.usage_peak = static_cast<float>(signal.usage_peak.value_or(signal.peak));
    lane.need_peak = signal.usage_peak.has_value() ? static_cast<float>(signal.peak) : kAbsent;
    lane.owner_limit = signal.owner_limit.has_value() ? static_cast<float>(*signal.owner_limit) : kAbsent;
    if (lane.owner_limit >= 0) lane.owner_before = lane.owner_limit;
    lane.of_request = data.of_request[IndexOf(r)];
    // Stored windows come without requests.
    if (point != nullptr) TakeRequest(data, r, lane);
    lane.tasks = tasks;
    if (r == Resource::kCpu && job.replicas != nullptr) {
      job.replicas->Observe(signal, Enforced(job) ? lane.real_limit() : lane.owner(), SizeUseOf(job),
                            &load_analogs_, {said, !reports.empty()});
    }
    if (r == Resource::kMemory && job.replicas != nullptr) {
      job.replicas->ObserveMemory(signal, Enforced(job) ? lane.real_limit() : lane.owner());
    }
    most_tasks = std::max(most_tasks, tasks);
    if (point != nullptr && over && !is_machine) ++point->amounts[static_cast<size_t>(r)].job_windows_over;
  }
  if (job.replicas != nullptr) TakeTaskSize(job);
  if (point == nullptr && job.replicas != nullptr) (void)job.replicas->TakeStepBack();  // was said before
  if (point == nullptr || is_machine) return;
  ++point->jobs;
  point->tasks += most_tasks;
  ++point->jobs_by_mode[static_cast<size_t>(job.policy->mode)];
}

// Tasks that are not measured are not known to be gone, unless it was ordered (or shown) that none shall run, or a
// series says how many do.
void LiveFleet::ObserveIdle(const JobDay& day, const SaidReplicas& said, LiveJob& job) {
  const JobWindow& window = day.windows.front();
  const LiveReplicas* replicas = job.replicas.get();
  const bool counts = replicas != nullptr && (!replicas->is_of_cpu() || !replicas->reads_load()) &&
                      (replicas->assumed() == 0 || said.known());
  for (LiveLane& lane : job.lanes) {
    lane.usage_mean = lane.usage_peak = lane.need_peak = kAbsent;
    lane.tasks = 0;
  }
  // A named signal that decides nothing must not hide that nothing is measured (TakeSilence).
  if (window.load >= 0 || counts) job.last_window = window.window;
  if (!counts) return;
  Signal idle{.window = window.window, .buckets = {}, .tasks = {}, .owner_limit = {}};
  if (window.load >= 0) idle.load = window.load;
  idle.named = day.signals;
  job.replicas->Observe(idle, std::nullopt, SizeUse::kOwners, nullptr, {said});
}

SizeUse LiveFleet::SizeUseOf(const LiveJob& job) const {
  if (job.policy->mode == Mode::kObserve || settings_.enforcement == Enforcement::kNever)
    return SizeUse::kWouldBe;
  return Enforced(job) ? SizeUse::kOrdered : SizeUse::kOwners;
}

// Limits that follow the size are of the size that is known now.
void LiveFleet::TakeTaskSize(LiveJob& job) const {
  for (const Resource r : kResources) job.of(r).lane.recommender().TakeTaskSize(job.replicas->task_size());
  if (ScaledByOf(*job.policy) != VerticalSettings::ScaledBy::kNothing) RecommendAgain(job);
}

void LiveFleet::MarkDay(const Signal& signal, const LiveJob& job, LiveLane& lane) const {
  using What = DayRecord::What;
  constexpr double kAtLimit = 0.95;
  const int32_t day = signal.window.day();
  if (const std::optional<double> limit = lane.lane.recommended(); limit.has_value()) {
    lane.days.Mark(day, What::kRecommended);
    if (signal.peak > *limit) lane.days.Mark(day, What::kOver);
  }
  const std::optional<double> ours = Enforced(job) ? lane.gate.in_force : std::nullopt;
  const std::optional<double> real = ours.has_value() ? ours : signal.owner_limit;
  if (real.has_value() && signal.peak >= kAtLimit * *real) lane.days.Mark(day, What::kAtLimit);
}

}  // namespace taut::brain
