#include "brain/replicas/settings.h"

#include <algorithm>
#include <cmath>

#include "brain/replicas/hpa_metrics.h"
#include "brain/replicas/hpa_rates.h"
#include "brain/replicas/target_expression.h"
#include "common/base/nearest.h"
#include "common/base/row_named.h"
#include "common/base/strings.h"

namespace taut::brain {
namespace {

using enum FieldUnit;

constexpr double kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour;
constexpr EnumName<LoadStatistic> kStatistics[] = {{LoadStatistic::kMax, "max"},
                                                   {LoadStatistic::kP95, "p95"}};

using Signals = std::vector<std::string>;

// Returns the type of a field with its own text format, which `parse` and `show` define.
template <typename T, auto parse, auto show>
constexpr FieldType TextType() {
  return {
      [](const FieldSpec&, std::span<const std::string> values, void* target, const void* signals) {
        return parse(StripSpace(values[0]), *static_cast<const Signals*>(signals), *static_cast<T*>(target));
      },
      [](const FieldSpec&, const void* value) { return std::string(show(*static_cast<const T*>(value))); },
      CopyField<T>};
}

absl::Status ParseSchedule(std::string_view text, const Signals& /*signals*/, ReplicaSchedule& schedule) {
  absl::StatusOr<ReplicaSchedule> parsed = ReplicaSchedule::Parse(text);
  if (parsed.ok()) schedule = *std::move(parsed);
  return parsed.status();
}
absl::Status ParseExpression(std::string_view text, const Signals& signals, std::string& expression) {
  const absl::StatusOr<TargetExpression> parsed = TargetExpression::Parse(text, signals);
  if (parsed.ok()) expression = parsed->text();
  return parsed.status();
}
absl::Status ParseRates(std::string_view text, const Signals& /*signals*/, HpaDirection& direction) {
  return ParseHpaRates(text, direction);
}
absl::Status ParseMetrics(std::string_view text, const Signals& signals, HpaMetrics& metrics) {
  return ParseHpaMetrics(text, signals, metrics);
}
std::string ScheduleText(const ReplicaSchedule& schedule) { return std::string(schedule.text()); }
std::string ExpressionText(const std::string& expression) { return expression; }

constexpr FieldType kScheduleType = TextType<ReplicaSchedule, ParseSchedule, ScheduleText>(),
                    kExpressionType = TextType<std::string, ParseExpression, ExpressionText>(),
                    kRatesType = TextType<HpaDirection, ParseRates, HpaRatesText>(),
                    kMetricsType = TextType<HpaMetrics, ParseMetrics, HpaMetricsText>();

#define TAUT_REF(field) +[](ReplicaSettings& s) -> FieldRef { return &s.field; }
#define TAUT_TEXT(type, field) +[](ReplicaSettings& s) { return FieldRef(&s.field, type, &s.signals); }
constexpr ReplicaSetting kSettings[] = {
    {"replicas.min",
     "lowest number of tasks; 0: the job goes to zero and back by keda.activation and keda.cooldown, with "
     "any policy",
     kPlain, 0, 1e6, TAUT_REF(bounds.min)},
    {"replicas.max", "highest number of tasks", kPlain, 1, 1e6, TAUT_REF(bounds.max)},
    {"replicas.schedule", "limits by time: from CRON to CRON [in ZONE] min N max N; ...", kPlain, 0, 0,
     TAUT_TEXT(kScheduleType, schedule)},
    {"static.count", "tasks of the static policy; 0: enough for the peak of the first days", kPlain, 0, 1e6,
     TAUT_REF(fixed.count)},
    {"static.peak_window", "time whose peak static.count 0 uses", kDuration, 0.01 * kDay, 1000 * kDay,
     TAUT_REF(fixed.peak_days), Was("static.peak_days", kDay, kDay)},
    {"autopilot.average", "time over which the load is averaged", kDuration, kMinute, 1440 * kMinute,
     TAUT_REF(autopilot.average_s), Was("autopilot.average_min", kMinute)},
    {"autopilot.horizon", "time whose statistic is used", kDuration, 0.1 * kHour, 720 * kHour,
     TAUT_REF(autopilot.horizon_s), Was("autopilot.horizon_h", kHour)},
    {"autopilot.statistic", "max or p95", kPlain, 0, 0,
     +[](ReplicaSettings& s) { return ChoiceOf<kStatistics>(&s.autopilot.statistic); }},
    {"autopilot.target", "r*: utilisation at the statistic", kPlain, 0.01, 1, TAUT_REF(autopilot.target)},
    {"autopilot.defer_downscaling", "time whose highest recommendation is held", kDuration, 0, 336 * kHour,
     TAUT_REF(autopilot.defer_downscaling_s), Was("autopilot.defer_downscaling_h", kHour)},
    {"autopilot.half_life", "time in which the count may halve; 0: the count falls at once", kDuration, 0,
     336 * kHour, TAUT_REF(autopilot.decay_half_life_s), Was("autopilot.half_life_h", kHour)},
    {"autopilot.small_change", "changes up to this share of the count are not made", kPlain, 0, 1,
     TAUT_REF(autopilot.small_change)},
    {"autopilot.max_starting", "greatest share of the tasks that may be starting", kPlain, 0.01, 1,
     TAUT_REF(autopilot.max_starting)},
    {"hpa.target", "target utilisation (Kubernetes' default: 0.8); keda uses it too", kPlain, 0.01, 10,
     TAUT_REF(hpa.target)},
    {"hpa.tolerance", "no change while the ratio to the target differs from 1 by at most this", kPlain, 0, 10,
     TAUT_REF(hpa.tolerance)},
    {"hpa.up_window", "time whose lowest recommendation limits a scale-up", kDuration, 0, 3600,
     TAUT_REF(hpa.up.stabilization_s), Was("hpa.up_window_s")},
    {"hpa.down_window", "time whose highest recommendation limits a scale-down", kDuration, 0, 3600,
     TAUT_REF(hpa.down.stabilization_s), Was("hpa.down_window_s")},
    {"hpa.up", "how fast it adds tasks: [max of|min of] N% per TIME; N pods per TIME; or disabled", kPlain, 0,
     0, TAUT_TEXT(kRatesType, hpa.up)},
    {"hpa.down", "how fast it removes tasks, as hpa.up", kPlain, 0, 0, TAUT_TEXT(kRatesType, hpa.down)},
    {"hpa.metrics",
     "metrics beside the load; the highest resulting number applies: NAME N per task, NAME N, memory N%; ...",
     kPlain, 0, 0, TAUT_TEXT(kMetricsType, hpa.metrics)},
    {"keda.activation", "load above which a job at zero starts, with replicas.min 0 and any policy", kPlain,
     0, 1e300, TAUT_REF(keda.activation)},
    {"keda.cooldown", "time without activation before a job goes to zero", kDuration, 0, 1e6,
     TAUT_REF(keda.cooldown_s), Was("keda.cooldown_s")},
    {"forecast.overloaded", "target share of overloaded minutes", kPlain, 1e-5, 0.5,
     TAUT_REF(forecast.overloaded)},
    {"forecast.change_price", "price of a started task, in minutes of a task", kPlain, 0, 1e4,
     TAUT_REF(forecast.change_price)},
    {"forecast.min_history", "history of the load that a forecast needs", kDuration, 0.5 * kHour, 1e4 * kHour,
     TAUT_REF(forecast.min_history_s), Was("forecast.min_history_h", kHour)},
    {"forecast.fallback_target", "target utilisation with less history", kPlain, 0.01, 1,
     TAUT_REF(forecast.fallback_target)},
    {"function.target", "number of tasks as an expression of load, capacity, max(SIGNAL, 10m), ...", kPlain,
     0, 0, TAUT_TEXT(kExpressionType, function.target)},
    {"function.max_step", "largest step up: at most this many times the running tasks, or 100 more", kPlain,
     1, 1e6, TAUT_REF(function.max_step)},
    {"function.silent_after",
     "time without a load after which the highest count of the last day is ordered, live with any policy",
     kDuration, 0.05 * kHour, 336 * kHour, TAUT_REF(function.silent_s), Was("function.silent_h", kHour)},
};
#undef TAUT_TEXT
#undef TAUT_REF

}  // namespace

int ReplicaBounds::Clamp(double count) const {
  if (std::isnan(count)) return min;
  return static_cast<int>(std::clamp(count, static_cast<double>(min), static_cast<double>(max)));
}

std::span<const ReplicaSetting> ReplicaSettingsTable() { return kSettings; }

absl::Status SetReplicaSetting(std::string_view key, std::string_view value, ReplicaSettings& settings,
                               SettingNotices* notices) {
  const ReplicaSetting* row = FindSetting(ReplicaSettingsTable(), key);
  if (row != nullptr) return SetSetting(*row, key, value, settings, notices);
  return absl::InvalidArgumentError(
      StrCat("unknown setting \"", key, "\"; did you mean \"", NearestName(key, KeysOf(kSettings)), "\"?"));
}

absl::Status CheckReplicaSettings(const ReplicaSettings& settings) {
  if (settings.bounds.min > settings.bounds.max) {
    return absl::InvalidArgumentError(StrCat("invalid replicas.min ", settings.bounds.min,
                                             ": expected at most replicas.max, ", settings.bounds.max));
  }
  // Most jobs have the default, which does not need the parser.
  static const FunctionReplicaSettings defaults;
  if (settings.function.target == defaults.target) return absl::OkStatus();
  const absl::StatusOr<TargetExpression> parsed =
      TargetExpression::Parse(settings.function.target, settings.signals);
  if (parsed.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat("invalid function.target: ", Message(parsed.status())));
}

}  // namespace taut::brain
