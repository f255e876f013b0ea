#include "brain/rollout/job_policy.h"

#include <algorithm>
#include <cmath>

#include "common/base/strings.h"
#include "common/base/time.h"

namespace taut::brain {
namespace {

constexpr double kBatchGraceSeconds = 60, kServingGraceSeconds = 300;

// Returns the target share of OOM-days for a declared tolerance; nullopt if the fleet's target applies.
std::optional<double> OrderOf(OomTolerance tolerance) {
  switch (tolerance) {
    case OomTolerance::kMinimal:
      return 0.003;
    case OomTolerance::kLow:
      return 0.03;
    case OomTolerance::kIntermediate:
      return 0.13;
    case OomTolerance::kBySize:
      break;
  }
  return std::nullopt;
}

}  // namespace

ReplicaSettings LiveReplicaSettings() {
  ReplicaSettings settings;
  settings.step_s = kWindowSeconds;
  settings.hpa.down.stabilization_s = 2 * kWindowSeconds;
  return settings;
}

int64_t StartupGraceSeconds(const JobPolicy& policy, Resource resource) {
  const bool has_window = resource == Resource::kCpu && policy.startup_window_s > 0;
  return has_window ? std::llround(policy.startup_window_s) : StartupGraceSeconds(policy);
}

int64_t StartupGraceSeconds(const JobPolicy& policy) {
  const double by_class = policy.job_class == JobClass::kBatch ? kBatchGraceSeconds : kServingGraceSeconds;
  return std::llround(policy.startup_grace_s.value_or(by_class));
}

bool JobPolicy::WatchesVersion(int64_t now_s) const {
  if (!version.since_s.has_value()) return false;
  return std::abs(static_cast<double>(now_s) - static_cast<double>(*version.since_s)) < watch_version_s;
}

VerticalSettings::ScaledBy ScaledByOf(const JobPolicy& policy) {
  using enum VerticalSettings::ScaledBy;
  if (policy.replica_policy.empty()) return kNothing;
  return policy.replicas.task_capacity > 0 ? kSeries : kCpu;
}

bool GoesToZeroForGood(const JobPolicy& policy) {
  return policy.replicas.bounds.min == 0 && ScaledByOf(policy) == VerticalSettings::ScaledBy::kCpu;
}

bool SameRecommender(const JobPolicy& a, const JobPolicy& b, Resource r) {
  return a.order_class(r) == b.order_class(r) && a.recommenders().of(r) == b.recommenders().of(r) &&
         a.external == b.external && ScaledByOf(a) == ScaledByOf(b) &&
         (r == Resource::kCpu || a.memory_signal == b.memory_signal);
}

VerticalSettings SettingsFor(const JobPolicy& policy, const VerticalSettings& settings) {
  VerticalSettings s = settings;
  s.moving_window.job_class = policy.job_class;
  s.moving_window.oom_tolerance = policy.oom_tolerance;
  for (const Resource r : kResources) s.bounds_by[IndexOf(r)] = policy.AllowedBounds(r);
  s.external = policy.external;
  s.memory_signal = policy.memory_signal;
  s.scaled_by = ScaledByOf(policy);
  // An applied limit must not fall at once to a limit that has killed a task.
  s.vpa.oom_floor = true;
  s.analogs.memory_job_order = OrderOf(policy.oom_tolerance);
  if (policy.risk.has_value()) s.analogs.job_order = policy.risk;
  s.work_function.job_order = policy.throttled;
  return s;
}

absl::Status CheckOrder(std::string_view key, const JobPolicy& policy) {
  const PolicyPair pair = policy.recommenders();
  const bool is_risk = key == "risk";
  const bool kept = is_risk ? TargetOf(pair.cpu, Resource::kCpu) == TargetKind::kDays ||
                                  TargetOf(pair.memory, Resource::kMemory) == TargetKind::kDays
                            : TargetOf(pair.cpu, Resource::kCpu) == TargetKind::kWork;
  if ((!is_risk && key != "throttled") || kept) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat(key, ": the recommender ", Name(pair),
                                           " takes no such order; expected ",
                                           is_risk ? "analogs" : "work_function", ", boosted or combined"));
}

}  // namespace taut::brain
