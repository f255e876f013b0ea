// What agents report of tasks, and trials of some of them.
#include <algorithm>
#include <cmath>

#include "brain/fleet/live_fleet.h"

namespace taut::brain {
namespace {

// Of the periods counted so far, a window later; a half is left after a day.
const float kDecayOfWindow = static_cast<float>(std::exp2(-1.0 / kWindowsPerDay));

constexpr double kMostFloorCores = 1;
constexpr double kMostFloorBytes = 1 << 30;

// Mean over the tasks whose limit is known. What no task reports stays as it was.
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

}  // namespace

void LiveFleet::TakeReports(LiveJob& job, std::span<const TaskReport> reports,
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

// The tasks that a limit can be tried on: all that were measured, or those whose agents apply limits.
void LiveFleet::FindCandidates(const ClosedWindow& closed, const JobWindowData& data, Resource r) {
  candidates_.clear();
  if (AppliedTo(jobs_[data.job]) == LimitsApplied::kAgentsReport || data.num_reports > 0) {
    for (const TaskReport& report : std::span(closed.reports).subspan(data.first_report, data.num_reports)) {
      if (report.managed) candidates_.push_back(report.task);
    }
    return;
  }
  for (const TaskWindow& t : std::span(closed.tasks).subspan(data.window.first_task, data.window.num_tasks)) {
    if (t.mean(r) >= 0) candidates_.push_back(t.task);
  }
}

void LiveFleet::NoteTrialOf(const LiveJob& job) {
  for (const Resource r : kResources) {
    const Boxed<Trial>& trial = job.of(r).gate.trial;
    if (trial.has_value() && !trial->watched) trials_[trial->decision] = job.record.id;
  }
}

std::vector<JobId> LiveFleet::Trials() {
  std::vector<JobId> jobs;
  absl::erase_if(trials_, [&](const auto& entry) {
    const LiveJob* job = jobs_.Find(entry.second);
    if (job == nullptr) return true;
    const bool runs = std::any_of(kResources.begin(), kResources.end(), [&](Resource r) {
      const Boxed<Trial>& trial = job->of(r).gate.trial;
      return trial.has_value() && trial->decision == entry.first;
    });
    if (runs) jobs.push_back(entry.second);
    return !runs;
  });
  std::sort(jobs.begin(), jobs.end());
  jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
  return jobs;
}

void LiveFleet::SetTrialTasks(JobId id, Resource r, std::vector<TrialTask> members) {
  if (!Has(id)) return;
  Boxed<Trial>& trial = jobs_[id].of(r).gate.trial;
  if (trial.has_value()) trial->members = std::move(members);
}

void LiveFleet::TakeOutcome(const OutcomeUpdate& outcome) {
  if (const auto it = trials_.find(outcome.id); it != trials_.end() && Has(it->second)) {
    for (const Resource r : kResources) NoteTrialOutcome(outcome, jobs_[it->second].of(r).gate);
  }
  if (const auto it = replica_orders_.find(outcome.id); it != replica_orders_.end()) {
    LiveJob* const job = jobs_.Find(it->second);
    if (job != nullptr && job->replicas != nullptr && job->replicas->TakeOutcome(outcome.id, outcome.outcome))
      Changed(*job);
  }
  if (const auto it = memory_orders_.find(outcome.id); it != memory_orders_.end()) {
    LiveJob* const job = jobs_.Find(it->second);
    if (job != nullptr && job->memory != nullptr)
      job->memory->past_limits.NoteOutcome(outcome.id, outcome.outcome, outcome.time_s);
    const bool is_last = outcome.outcome != Outcome::kPending && outcome.outcome != Outcome::kFailed;
    if (job == nullptr || is_last) memory_orders_.erase(it);
  }
  if (!outcome.minimum.has_value() || !outcome.target.is_limit()) return;
  const Resource resource = outcome.target.resource();
  // Kernels and engines refuse single megabytes and millicores; an agent that says more is wrong.
  if (*outcome.minimum > (InCores(resource) ? kMostFloorCores : kMostFloorBytes)) return;
  const std::optional<JobId> id = Find(outcome.job);
  if (!id.has_value()) return;
  double& floor = jobs_[*id].of(resource).gate.floor;
  floor = std::max(floor, *outcome.minimum);
}

}  // namespace taut::brain
