#include "brain/fleet/live_starts.h"

#include <algorithm>

#include "brain/fleet/vertical_pass.h"
#include "common/model/start_usage.h"

namespace taut::brain {

void JobStarts::NoteGiven(double cores) {
  const auto amount = static_cast<float>(cores);
  const auto known = std::find(given.begin(), given.end(), amount);
  const auto place = known == given.end() ? given.end() - 1 : known;
  std::rotate(given.begin(), place, place + 1);
  given.front() = amount;
}

std::optional<StartBoost> LiveJobState::BoostAt(double steady) const {
  if (!(policy->startup_window_s > 0) || !(steady > 0)) return std::nullopt;
  return BoostFor(starts != nullptr ? starts->peaks : StartPeaks(), steady, policy->startup_factor,
                  policy->AllowedBounds(Resource::kCpu));
}

std::optional<StartBoost> LiveJobState::BoostNow() const {
  const std::optional<double> in_force = of(Resource::kCpu).gate.in_force;
  return in_force.has_value() ? BoostAt(*in_force) : std::nullopt;
}

void ExplainStarts(const LiveJob& job, bool sets_starts, Reason& reason) {
  if (!(job.policy->startup_window_s > 0)) return;
  const LiveLane& lane = job.of(Resource::kCpu);
  // Without a limit in force, as in observe mode, explains the would-be limit.
  const std::optional<double> steady =
      lane.gate.in_force.has_value() ? lane.gate.in_force : lane.lane.recommended();
  if (!steady.has_value()) return;
  const std::string_view why_not = !sets_starts ? "limits of starts are set in Kubernetes alone"
                                   : !lane.gate.in_force.has_value() ? "no CPU limit is ordered for the job"
                                   : job.policy->in_template         ? "in_template is true"
                                                                     : "";
  ExplainBoost(job.BoostAt(*steady), *steady, job.policy->startup_window_s, why_not, reason);
}

void RestoreStarts(std::span<const JobDay> days, LiveJob& job) {
  if (!(job.policy->startup_window_s > 0) || job.starts != nullptr) return;
  job.starts = std::make_unique<JobStarts>();
  for (const JobDay& day : days) {
    for (const JobWindow& w : day.windows) {
      const StartSums sums = StartsOf(std::span(day.signals).subspan(w.first_signal, w.num_signals));
      if (sums.known()) job.starts->peaks.Add(w.window, sums.peak_cores, std::nullopt);
    }
  }
}

bool IsStartLimit(const LiveJob& job, double amount) {
  if (const std::optional<StartBoost> boost = job.BoostNow();
      boost.has_value() && IsAtLimit(Resource::kCpu, amount, boost->cores))
    return true;
  if (job.starts == nullptr) return false;
  return std::ranges::any_of(job.starts->given, [&](float given) {
    return given >= 0 && IsAtLimit(Resource::kCpu, amount, double{given});
  });
}

void VerticalPass::ObserveStarts(const JobDay& day, LiveJob& job) const {
  if (!(job.policy->startup_window_s > 0)) {
    job.starts.reset();
    return;
  }
  if (job.starts == nullptr) job.starts = std::make_unique<JobStarts>();
  JobStarts& starts = *job.starts;
  const std::optional<StartBoost> boost = job.BoostNow();
  if (boost.has_value()) starts.NoteGiven(boost->cores);
  starts.last = StartsOf(day.signals);
  starts.last_window = day.windows.front().window;
  if (!starts.last.known()) return;
  const LiveLane& lane = job.of(Resource::kCpu);
  const bool given = boost.has_value() && EnforcedWhereItRuns(s_, job) && !job.policy->in_template;
  // Without enforcement, tasks have the owner's limit.
  const std::optional<double> limit = given              ? std::optional(boost->cores)
                                      : s_.Enforced(job) ? lane.limit()
                                                         : lane.owner();
  starts.peaks.Add(starts.last_window, starts.last.peak_cores, limit);
}

}  // namespace taut::brain
