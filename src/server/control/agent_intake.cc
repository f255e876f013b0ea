#include "server/control/agent_intake.h"

#include <algorithm>

namespace taut::server {

std::optional<StandingTerms> AgentIntake::Standing(const TaskRef& ref, const std::string& task) const {
  const auto fleet = fleet_.Read();
  if (!fleet->Has(ref.job)) return std::nullopt;
  const brain::LiveJob& job = fleet->job(ref.job);
  StandingTerms terms{.mode = job.policy->mode,
                      .in_force = {},
                      .upper = {},
                      .startup_grace_s = brain::StartupGraceSeconds(*job.policy),
                      .throttle_control = job.policy->throttle_control,
                      .lower_cores = job.policy->bounds(Resource::kCpu).lower,
                      .knows_settings = !job.awaits_owner};
  for (const Resource r : kResources) {
    const brain::LiveLane& lane = job.of(r);
    const auto i = static_cast<size_t>(r);
    terms.in_force[i] = lane.gate.in_force;
    terms.decided_s[i] = std::max<int64_t>(0, lane.gate.last_change_s);
    const Boxed<brain::Trial>& trial = lane.gate.trial;
    if (trial.has_value() && !trial->watched &&
        std::any_of(trial->members.begin(), trial->members.end(),
                    [&](const brain::TrialTask& t) { return t.name == task; })) {
      terms.in_force[i] = trial->limit;
    }
    terms.upper[i] = job.policy->bounds(r).upper;
  }
  return terms;
}

}  // namespace taut::server
