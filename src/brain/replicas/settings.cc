#include "brain/replicas/settings.h"

#include <algorithm>
#include <cmath>

#include "brain/replicas/hpa_metrics.h"
#include "brain/replicas/hpa_rates.h"
#include "brain/replicas/target_expression.h"
#include "common/base/nearest.h"
#include "common/base/strings.h"

namespace taut::brain {
namespace {

#define TAUT_REF(field) +[](ReplicaSettings& s) -> ReplicaSetting::Ref { return &s.field; }
constexpr ReplicaSetting kSettings[] = {
    {"replicas.min",
     "least number of tasks; 0: the job goes to zero and back by keda.activation and keda.cooldown_s, with "
     "any policy",
     1, 0, 1e6, TAUT_REF(bounds.min)},
    {"replicas.max", "greatest number of tasks", 1, 1, 1e6, TAUT_REF(bounds.max)},
    {"replicas.schedule", "limits by time: from CRON to CRON [in ZONE] min N max N; ...", 1, 0, 0,
     TAUT_REF(schedule)},
    {"static.count", "tasks of the static policy; 0: enough for the peak of the first days", 1, 0, 1e6,
     TAUT_REF(fixed.count)},
    {"static.peak_days", "days whose peak static.count 0 uses", 1, 0.01, 1000, TAUT_REF(fixed.peak_days)},
    {"autopilot.average_min", "minutes over which the load is averaged", 60, 1, 1440,
     TAUT_REF(autopilot.average_s)},
    {"autopilot.horizon_h", "hours whose statistic is used", 3600, 0.1, 720, TAUT_REF(autopilot.horizon_s)},
    {"autopilot.statistic", "max or p95", 1, 0, 0, TAUT_REF(autopilot.statistic)},
    {"autopilot.target", "r*: utilisation at the statistic", 1, 0.01, 1, TAUT_REF(autopilot.target)},
    {"autopilot.defer_downscaling_h", "hours whose highest recommendation is held", 3600, 0, 336,
     TAUT_REF(autopilot.defer_downscaling_s)},
    {"autopilot.half_life_h", "hours in which the count may halve; 0: at once", 3600, 0, 336,
     TAUT_REF(autopilot.decay_half_life_s)},
    {"autopilot.small_change", "changes up to this share of the count are not made", 1, 0, 1,
     TAUT_REF(autopilot.small_change)},
    {"autopilot.max_starting", "greatest share of the tasks that may be starting", 1, 0.01, 1,
     TAUT_REF(autopilot.max_starting)},
    {"hpa.target", "target utilisation (Kubernetes' default: 0.8); keda uses it too", 1, 0.01, 10,
     TAUT_REF(hpa.target)},
    {"hpa.tolerance", "no change while the ratio to the target is this near 1", 1, 0, 10,
     TAUT_REF(hpa.tolerance)},
    {"hpa.up_window_s", "seconds whose lowest recommendation limits a scale-up", 1, 0, 3600,
     TAUT_REF(hpa.up.stabilization_s)},
    {"hpa.down_window_s", "seconds whose highest recommendation limits a scale-down", 1, 0, 3600,
     TAUT_REF(hpa.down.stabilization_s)},
    {"hpa.up", "how fast it adds tasks: [max of|min of] N% per TIME; N pods per TIME; or disabled", 1, 0, 0,
     TAUT_REF(hpa.up)},
    {"hpa.down", "how fast it removes tasks, as hpa.up", 1, 0, 0, TAUT_REF(hpa.down)},
    {"hpa.metrics",
     "metrics beside the load, the one that asks for the most counts: NAME N per task, NAME N, memory N%; "
     "...",
     1, 0, 0, TAUT_REF(hpa.metrics)},
    {"keda.activation", "load above which a job at zero starts, with replicas.min 0 and any policy", 1, 0,
     1e300, TAUT_REF(keda.activation)},
    {"keda.cooldown_s", "seconds without activation before a job goes to zero", 1, 0, 1e6,
     TAUT_REF(keda.cooldown_s)},
    {"forecast.overloaded", "target share of overloaded minutes", 1, 1e-5, 0.5,
     TAUT_REF(forecast.overloaded)},
    {"forecast.change_price", "price of a started task, in minutes of a task", 1, 0, 1e4,
     TAUT_REF(forecast.change_price)},
    {"forecast.min_history_h", "hours of load before it forecasts", 3600, 0.5, 1e4,
     TAUT_REF(forecast.min_history_s)},
    {"forecast.fallback_target", "target utilisation until then", 1, 0.01, 1,
     TAUT_REF(forecast.fallback_target)},
    {"function.target", "number of tasks as an expression of load, capacity, max(SIGNAL, 10m), ...", 1, 0, 0,
     TAUT_REF(function.target)},
    {"function.max_step",
     "largest step up: a decision asks for at most this many times the tasks that run, or for 100 more", 1, 1,
     1e6, TAUT_REF(function.max_step)},
    {"function.silent_h",
     "hours without a load after which the highest count of a day runs, live with any policy", 3600, 0.05,
     336, TAUT_REF(function.silent_s)},
};
#undef TAUT_REF

constexpr std::string_view kStatistics[] = {"max", "p95"};

absl::Status SetNumber(const ReplicaSetting& s, std::string_view text, ReplicaSetting::Ref ref) {
  const std::optional<double> value = ParseDouble(StripSpace(text));
  const bool whole = std::holds_alternative<int*>(ref);
  if (!value.has_value() || *value < s.min || *value > s.max || (whole && *value != std::floor(*value))) {
    return absl::InvalidArgumentError(StrCat("invalid ", s.key, " \"", text, "\": expected a ",
                                             whole ? "whole number" : "number", " from ", s.min, " to ",
                                             s.max));
  }
  if (whole) {
    *std::get<int*>(ref) = static_cast<int>(*value);
  } else {
    *std::get<double*>(ref) = *value * s.scale;
  }
  return absl::OkStatus();
}

}  // namespace

int ReplicaBounds::Clamp(double count) const {
  if (std::isnan(count)) return min;
  return static_cast<int>(std::clamp(count, static_cast<double>(min), static_cast<double>(max)));
}

std::span<const ReplicaSetting> ReplicaSettingsTable() { return kSettings; }

absl::Status SetReplicaSetting(std::string_view key, std::string_view value, ReplicaSettings& settings) {
  for (const ReplicaSetting& s : kSettings) {
    if (s.key != key) continue;
    const ReplicaSetting::Ref ref = s.ref(settings);
    if (auto* const schedule = std::get_if<ReplicaSchedule*>(&ref)) {
      absl::StatusOr<ReplicaSchedule> parsed = ReplicaSchedule::Parse(value);
      if (!parsed.ok())
        return absl::InvalidArgumentError(StrCat("invalid ", key, ": ", Message(parsed.status())));
      **schedule = *std::move(parsed);
      return absl::OkStatus();
    }
    if (auto* const expression = std::get_if<std::string*>(&ref)) {
      const absl::StatusOr<TargetExpression> parsed = TargetExpression::Parse(value, settings.signals);
      if (!parsed.ok())
        return absl::InvalidArgumentError(StrCat("invalid ", key, ": ", Message(parsed.status())));
      **expression = parsed->text();
      return absl::OkStatus();
    }
    if (auto* const direction = std::get_if<HpaDirection*>(&ref)) {
      const absl::Status parsed = ParseHpaRates(value, **direction);
      return parsed.ok() ? parsed
                         : absl::InvalidArgumentError(StrCat("invalid ", key, ": ", Message(parsed)));
    }
    if (auto* const metrics = std::get_if<HpaMetrics*>(&ref)) {
      const absl::Status parsed = ParseHpaMetrics(value, settings.signals, **metrics);
      return parsed.ok() ? parsed
                         : absl::InvalidArgumentError(StrCat("invalid ", key, ": ", Message(parsed)));
    }
    if (!std::holds_alternative<LoadStatistic*>(ref)) return SetNumber(s, value, ref);
    const auto* const found = std::find(std::begin(kStatistics), std::end(kStatistics), StripSpace(value));
    if (found == std::end(kStatistics))
      return absl::InvalidArgumentError(StrCat("invalid ", key, " \"", value, "\": expected max or p95"));
    *std::get<LoadStatistic*>(ref) = static_cast<LoadStatistic>(found - std::begin(kStatistics));
    return absl::OkStatus();
  }
  std::vector<std::string_view> keys;
  for (const ReplicaSetting& s : kSettings) keys.push_back(s.key);
  return absl::InvalidArgumentError(
      StrCat("unknown setting \"", key, "\"; did you mean \"", NearestName(key, keys), "\"?"));
}

std::string GetReplicaSetting(const ReplicaSetting& setting, const ReplicaSettings& settings) {
  ReplicaSettings copy = settings;
  const ReplicaSetting::Ref ref = setting.ref(copy);
  if (const auto* const number = std::get_if<double*>(&ref)) return StrCat(**number / setting.scale);
  if (const auto* const whole = std::get_if<int*>(&ref)) return StrCat(**whole);
  if (const auto* const schedule = std::get_if<ReplicaSchedule*>(&ref)) return (*schedule)->text();
  if (const auto* const expression = std::get_if<std::string*>(&ref)) return **expression;
  if (const auto* const direction = std::get_if<HpaDirection*>(&ref)) return HpaRatesText(**direction);
  if (const auto* const metrics = std::get_if<HpaMetrics*>(&ref)) return HpaMetricsText(**metrics);
  return std::string(kStatistics[static_cast<size_t>(*std::get<LoadStatistic*>(ref))]);
}

absl::Status CheckReplicaSettings(const ReplicaSettings& settings) {
  if (settings.bounds.min > settings.bounds.max) {
    return absl::InvalidArgumentError(StrCat("invalid replicas.min ", settings.bounds.min,
                                             ": expected at most replicas.max, ", settings.bounds.max));
  }
  // Parsing takes longer than comparing, and most jobs have the default.
  static const FunctionReplicaSettings defaults;
  if (settings.function.target == defaults.target) return absl::OkStatus();
  const absl::StatusOr<TargetExpression> parsed =
      TargetExpression::Parse(settings.function.target, settings.signals);
  if (parsed.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat("invalid function.target: ", Message(parsed.status())));
}

}  // namespace taut::brain
