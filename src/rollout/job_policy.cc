#include "rollout/job_policy.h"

namespace taut {

VerticalSettings SettingsFor(const JobPolicy& policy, const VerticalSettings& settings) {
  VerticalSettings s = settings;
  s.moving_window.job_class = policy.job_class;
  s.moving_window.oom_tolerance = policy.oom_tolerance;
  s.cpu_bounds = policy.cpu_bounds;
  s.memory_bounds = policy.memory_bounds;
  if (policy.risk.has_value()) s.analogs.job_order = policy.risk;
  return s;
}

}  // namespace taut
