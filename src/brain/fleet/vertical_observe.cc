// Passes a closed window to the lanes of its jobs.
#include <algorithm>

#include "brain/fleet/live_starts.h"
#include "brain/fleet/vertical_pass.h"
#include "common/model/said_replicas.h"
#include "common/model/whole_machine.h"

namespace taut::brain {
namespace {

// Factor on the counts of CFS periods per window, with which counts halve in a day.
const float kDecayOfWindow = static_cast<float>(std::exp2(-1.0 / kWindowsPerDay));

// Returns the mean over the tasks whose limit is known. If no report has a limit, returns `before`.
float AppliedOf(std::span<const TaskReport> reports, Resource r, float before) {
  double sum = 0;
  int count = 0;
  for (const TaskReport& report : reports) {
    if (report.limit(r) == kAbsent) continue;
    sum += double{report.limit(r)};
    ++count;
  }
  return count > 0 ? static_cast<float>(sum / count) : reports.empty() ? kAbsent : before;
}

void AddCounts(const FleetPoint& from, FleetPoint& to) {
  to.jobs += from.jobs;
  to.tasks += from.tasks;
  for (size_t mode = 0; mode < to.jobs_by_mode.size(); ++mode)
    to.jobs_by_mode[mode] += from.jobs_by_mode[mode];
  for (size_t r = 0; r < to.amounts.size(); ++r)
    to.amounts[r].job_windows_over += from.amounts[r].job_windows_over;
}

// Replaces an amount that reports Tautline's own order by the owner's last known amount. kube-state-metrics and
// cAdvisor report the amounts of a pod, but not the program that set them. An older order is forgotten an hour
// after the last change, when tasks have had time to apply the new order. Returns true if the amount was
// Tautline's own order.
bool DropReadBack(WindowId window, Resource r, LiveJob& job, float& amount) {
  constexpr int64_t kFollowSeconds = 3600;
  if (amount < 0) return false;
  LiveLane& lane = job.of(r);
  const int64_t since_s = window.next().start_s() - kFollowSeconds;
  // More than one order may have been replaced since `since_s`.
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

// Stores the owner's request in addition to a limit. A missing series does not clear the request.
void TakeRequest(const JobWindowData& data, Resource r, LiveLane& lane) {
  const float request = data.requests.of(r);
  if (lane.of_request || lane.owner_limit < 0) {
    lane.owner_request = kAbsent;
  } else if (request > 0) {
    lane.owner_request = request;
  }
}

// Stores the lane's figures in the last window.
void TakeFigures(const Signal& signal, LiveLane& lane) {
  double sum = 0;
  for (const TaskUsage& t : signal.tasks) sum += t.mean;
  // The front ends show the sum of usage; `sum` is the sum of probed needs if usage_peak is set.
  if (signal.usage_peak.has_value()) sum = signal.together(Resource::kMemory).value_or(sum);
  lane.tasks = static_cast<uint32_t>(signal.tasks.size());
  lane.usage_mean = static_cast<float>(sum / lane.tasks);
  lane.usage_peak = static_cast<float>(signal.usage_peak.value_or(signal.peak));
  lane.need_peak = signal.usage_peak.has_value() ? static_cast<float>(signal.peak) : kAbsent;
  lane.owner_limit = signal.owner_limit.has_value() ? static_cast<float>(*signal.owner_limit) : kAbsent;
  if (lane.owner_limit >= 0) lane.owner_before = lane.owner_limit;
}

}  // namespace

void VerticalPass::TakeOwnersAmounts(ClosedWindow& closed, size_t first, size_t last) {
  for (JobWindowData& data : std::span(closed.jobs).subspan(first, last - first)) {
    LiveJob* job = s_.jobs.Find(data.job);
    if (job == nullptr) continue;
    for (const Resource r : kResources) {
      TakeOwnersAmount(job->policy->allocation(r), r, data);
      // Agents store the limits that they found, so the owner's limits in their reports are correct.
      if (!EnforcedWhereItRuns(s_, *job) || data.num_reports > 0) continue;
      // If the limit of the series is Tautline's order, the request of the series is part of the same order.
      if (DropReadBack(closed.window, r, *job, data.window.limit(r)))
        data.requests.*OwnerRequests::kFields[IndexOf(r)] = kAbsent;
    }
  }
}

void VerticalPass::Observe(const ClosedWindow& closed, size_t first, size_t last, PassOutput& out, When when,
                           RunTurns run) {
  if (first == 0) {
    // The previous day is still open if the last window of that day had no usage, because EndWindow was not
    // called then.
    if (s_.day != INT32_MIN && closed.window.day() > s_.day) EndDay(out, when);
    s_.day = closed.window.day();
    out.point.window = closed.window;
    // `now` must be set before ObserveJobs, which records `now` as the first window that the checkpoint lacks.
    s_.now = closed.window;
    s_.passed = std::max(s_.passed, closed.window);
  }
  indices_.clear();
  for (size_t i = first; i < last; ++i) {
    indices_.push_back(static_cast<uint32_t>(i));
    if (when == When::kNow && closed.jobs[i].window.num_tasks > 0)
      s_.jobs[closed.jobs[i].job].measured_now = true;
  }
  ObserveJobs(closed, indices_, &out.point, run);
}

void VerticalPass::ObserveJobs(const ClosedWindow& closed, std::span<const uint32_t> indices,
                               FleetPoint* point, RunTurns run) {
  // This loop must precede the turns: Changed writes shared state, and turns may run on several threads.
  for (const uint32_t i : indices) s_.Changed(closed.jobs[i].job);
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

void VerticalPass::ObserveTurn(const ClosedWindow& closed, std::span<const uint32_t> indices, bool counts,
                               Turn& turn) {
  turn.point = FleetPoint();
  for (const uint32_t i : indices) ObserveJob(closed, i, counts ? &turn.point : nullptr, turn);
}

void VerticalPass::ObserveJob(const ClosedWindow& closed, size_t index, FleetPoint* point, Turn& turn) {
  ToJobDay(closed, index, turn.job_day);
  LiveJob& job = s_.Awake(turn.job_day.job);
  // Stored windows contain the number of tasks as a signal.
  const SaidReplicas& now = closed.jobs[index].replicas;
  const SaidReplicas said = now.known() ? now : SaidOf(turn.job_day.signals);
  if (job.policy->startup_window_s > 0 || job.starts != nullptr) ObserveStarts(turn.job_day, job);
  if (closed.jobs[index].window.num_tasks == 0) return ObserveIdle(turn.job_day, said, job);
  StartDay(job, closed.window.day());
  job.seen_today = true;
  // The job is new or has returned after a gap, in which its owner may have changed the settings.
  if (s_.awaits_owners && job.last_window.next() < closed.window) job.awaits_owner = true;
  job.last_window = closed.window;
  const JobWindowData& data = closed.jobs[index];
  const JobInWindow in{
      .data = data,
      .reports = std::span(closed.reports).subspan(data.first_report, data.num_reports),
      .throttling = std::span(closed.throttling).subspan(data.first_throttling, data.num_throttling),
      .said = said,
      .point = IsWholeMachine(*job.record) ? nullptr : point,
      .is_stored = point == nullptr};
  if (!in.is_stored || !in.reports.empty()) TakeReports(job, in.reports, in.throttling);
  uint32_t most_tasks = 0;
  for (const Resource r : kResources) most_tasks = std::max(most_tasks, ObserveLane(in, r, job, turn));
  if (job.replicas != nullptr) replicas_.TakeTaskSize(job);
  // The step back was reported before the restart.
  if (in.is_stored && job.replicas != nullptr) (void)job.replicas->order().TakeStepBack();
  if (in.point == nullptr) return;
  ++point->jobs;
  point->tasks += most_tasks;
  ++point->jobs_by_mode[static_cast<size_t>(job.policy->mode)];
}

uint32_t VerticalPass::ObserveLane(const JobInWindow& in, Resource r, LiveJob& job, Turn& turn) const {
  LiveLane& lane = job.of(r);
  turn.signals.Build(turn.job_day, r, job.policy->memory_signal);
  if (turn.signals.empty()) {
    lane.usage_mean = lane.usage_peak = lane.need_peak = kAbsent;
    lane.tasks = 0;
    return 0;
  }
  const Signal& signal = turn.signals.signals().front();
  const std::optional<double> would_be = lane.lane.LimitInForce(signal.owner_limit);
  // The comparison uses the limit that was recommended for this window, so it precedes Observe.
  const bool over = would_be.has_value() && signal.peak > *would_be;
  job.over_today = job.over_today || over;
  MarkDay(signal, job, lane);
  risk_.Count(signal, job, r, lane);
  JobStepper(r, lane).Observe({r, &signal, in.reports, s_.AppliedTo(job), in.throttling});
  TakeFigures(signal, lane);
  lane.of_request = in.data.of_request[IndexOf(r)];
  if (!in.is_stored) TakeRequest(in.data, r, lane);
  if (over && in.point != nullptr) ++in.point->amounts[IndexOf(r)].job_windows_over;
  if (job.replicas == nullptr) return lane.tasks;
  const std::optional<double> limit = s_.Enforced(job) ? lane.real_limit() : lane.owner();
  if (r == Resource::kCpu) {
    job.replicas->Observe(signal, limit, s_.SizeUseOf(job), &s_.load_analogs, {in.said, !in.reports.empty()});
  }
  if (r == Resource::kMemory) job.replicas->ObserveMemory(signal, limit);
  return lane.tasks;
}

// Processes a window without measured tasks. The job counts as having no tasks only if zero tasks were ordered
// (or shown), or if a series reports the number of tasks. Otherwise the measurement is missing.
void VerticalPass::ObserveIdle(const JobDay& day, const SaidReplicas& said, LiveJob& job) {
  const JobWindow& window = day.windows.front();
  LiveReplicas* const replicas = job.replicas.get();
  const bool counts = replicas != nullptr &&
                      (!replicas->figures().is_of_cpu || !replicas->policy().reads_load()) &&
                      (replicas->order().gate.assumed() == 0 || said.known());
  for (LiveLane& lane : job.lanes) {
    lane.usage_mean = lane.usage_peak = lane.need_peak = kAbsent;
    lane.tasks = 0;
  }
  // A named signal that affects no decision must not hide that the job is unmeasured (TakeSilence).
  if (window.load >= 0 || counts) job.last_window = window.window;
  if (!counts) return;
  Signal idle{.window = window.window, .buckets = {}, .tasks = {}, .owner_limit = {}};
  if (window.load >= 0) idle.load = window.load;
  idle.named = day.signals;
  job.replicas->Observe(idle, std::nullopt, SizeUse::kOwners, nullptr, {said});
}

void VerticalPass::MarkDay(const Signal& signal, const LiveJob& job, LiveLane& lane) const {
  using What = DayRecord::What;
  constexpr double kAtLimit = 0.95;
  const int32_t day = signal.window.day();
  if (const std::optional<double> limit = lane.lane.recommended(); limit.has_value()) {
    lane.days.Mark(day, What::kRecommended);
    if (signal.peak > *limit) lane.days.Mark(day, What::kOver);
  }
  const std::optional<double> ours = s_.Enforced(job) ? lane.gate.in_force : std::nullopt;
  const std::optional<double> real = ours.has_value() ? ours : signal.owner_limit;
  if (real.has_value() && signal.peak >= kAtLimit * *real) lane.days.Mark(day, What::kAtLimit);
}

void VerticalPass::TakeReports(LiveJob& job, std::span<const TaskReport> reports,
                               std::span<const TaskThrottling> throttling) {
  job.managed = std::any_of(reports.begin(), reports.end(), [](const TaskReport& r) { return r.managed; });
  for (const Resource r : kResources) job.of(r).applied = AppliedOf(reports, r, job.of(r).applied);
  job.periods *= kDecayOfWindow;
  job.throttled *= kDecayOfWindow;
  for (const TaskReport& report : reports) {
    job.periods += static_cast<float>(report.cpu_periods);
    job.throttled += static_cast<float>(report.cpu_throttled_periods);
  }
  for (const TaskThrottling& t : throttling) {
    job.periods += static_cast<float>(t.periods);
    job.throttled += static_cast<float>(t.throttled);
  }
}

// Fills candidates_ with the tasks on which a limit can be tried: all measured tasks, or only the tasks whose
// agents apply limits.
void VerticalPass::FindCandidates(const ClosedWindow& closed, const JobWindowData& data, Resource r) {
  candidates_.clear();
  if (s_.AppliedTo(s_.jobs[data.job]) == LimitsApplied::kAgentsReport || data.num_reports > 0) {
    for (const TaskReport& report : std::span(closed.reports).subspan(data.first_report, data.num_reports)) {
      if (report.managed) candidates_.push_back(report.task);
    }
    return;
  }
  for (const TaskWindow& t : std::span(closed.tasks).subspan(data.window.first_task, data.window.num_tasks)) {
    if (t.mean(r) >= 0) candidates_.push_back(t.task);
  }
}

}  // namespace taut::brain
