#include "brain/overcommit/settings.h"

#include "common/base/nearest.h"
#include "common/base/row_named.h"
#include "common/base/strings.h"

namespace taut::brain {
namespace {

using enum FieldUnit;

constexpr double kHour = 3600, kDay = 24 * kHour;

#define TAUT_REF(name) +[](OvercommitSettings& s) -> FieldRef { return &s.name; }
constexpr OvercommitSetting kSettings[] = {
    {"borg-default.share", "share of the sum of limits", kPlain, 0.01, 1, TAUT_REF(borg.share)},
    {"n-sigma.n", "standard deviations above the mean", kPlain, 0, 100, TAUT_REF(n_sigma.n)},
    {"n-sigma.window", "history that it uses", kDuration, 0.5 * kHour, 2400 * kHour,
     TAUT_REF(n_sigma.window_h), Was("n-sigma.window_h", kHour, kHour)},
    {"n-sigma.min_samples", "windows until a task counts with less than its limit", kPlain, 2, 1e5,
     TAUT_REF(n_sigma.min_samples)},
    {"rc-like.percentile", "percentile of each task's usage over its limit", kPlain, 0, 100,
     TAUT_REF(rc_like.percentile)},
    {"rc-like.window", "history that it uses", kDuration, 0.5 * kHour, 2400 * kHour,
     TAUT_REF(rc_like.window_h), Was("rc-like.window_h", kHour, kHour)},
    {"rc-like.min_samples", "windows until a task counts with less than its limit", kPlain, 1, 1e5,
     TAUT_REF(rc_like.min_samples)},
    {"machine-percentile.percentile", "percentile of the machine's usage over its limits", kPlain, 0, 100,
     TAUT_REF(machine_percentile.percentile)},
    {"machine-percentile.window", "history that it uses", kDuration, 0.5 * kHour, 2400 * kHour,
     TAUT_REF(machine_percentile.window_h), Was("machine-percentile.window_h", kHour, kHour)},
    {"machine-percentile.min_samples", "windows until a task counts with less than its limit", kPlain, 1, 1e5,
     TAUT_REF(machine_percentile.min_samples)},
    {"reservation.margin", "share of the usage that is added to it", kPlain, 0, 10,
     TAUT_REF(reservation.margin)},
    {"reservation.half_life", "time in which half of what is above usage and margin goes", kDuration,
     0.01 * kHour, 1000 * kHour, TAUT_REF(reservation.half_life_h),
     Was("reservation.half_life_h", kHour, kHour)},
    {"machine-max.window", "time whose highest usage of the machine counts", kDuration, 0.05 * kDay,
     100 * kDay, TAUT_REF(machine_max.days), Was("machine-max.days", kDay, kDay)},
    {"machine-max.factor", "factor on the highest usage", kPlain, 0.1, 10, TAUT_REF(machine_max.factor)},
    {"machine-max.share", "share added of what the tasks' own maxima exceed the machine's by", kPlain, 0, 1,
     TAUT_REF(machine_max.share)},
    {"machine-max.hours",
     "above 0: only these next hours on earlier days count, and the last 6 hours",
     kDuration,
     0,
     24 * kHour,
     TAUT_REF(machine_max.hours),
     {.scale = kHour}},
    {"machine-max.min_samples", "windows until a task counts with less than its limit", kPlain, 1, 1e5,
     TAUT_REF(machine_max.min_samples)},
    {"max.of", "predictors whose highest counts, joined by +", kPlain, 0, 0, TAUT_REF(max.of)},
    {"pool.over", "risk target: share of machine-days whose peak exceeds the prediction", kPlain, 0.001, 0.5,
     TAUT_REF(pool.over)},
    {"pool.gain", "how fast the share in use moves with the share delivered", kPlain, 0, 10,
     TAUT_REF(pool.gain)},
    {"pool.prior", "the share in use is multiplied by t / (t + this) after a time t of comparisons",
     kDuration, 0, 1000 * kDay, TAUT_REF(pool.prior_days), Was("pool.prior_days", kDay, kDay)},
    {"pool.history", "history of a machine that its forecast needs", kDuration, 0.1 * kDay, 100 * kDay,
     TAUT_REF(pool.history_days), Was("pool.history_days", kDay, kDay)},
    {"pool.every", "time between two forecasts that are compared with the peaks that followed", kDuration,
     0.25 * kHour, 24 * kHour, TAUT_REF(pool.every_h), Was("pool.every_h", kHour, kHour)},
    {"pool.min_days", "machine-days of completed forecasts before forecasts are used", kPlain, 1, 1e6,
     TAUT_REF(pool.min_days)},
    {"pool.min_samples", "windows until a task counts with less than its limit", kPlain, 1, 1e5,
     TAUT_REF(pool.min_samples)},
};
#undef TAUT_REF

}  // namespace

std::span<const OvercommitSetting> OvercommitSettingsTable() { return kSettings; }

absl::Status SetOvercommitSetting(std::string_view key, std::string_view value, OvercommitSettings& settings,
                                  SettingNotices* notices) {
  const OvercommitSetting* row = FindSetting(OvercommitSettingsTable(), key);
  if (row != nullptr) return SetSetting(*row, key, value, settings, notices);
  return absl::InvalidArgumentError(
      StrCat("unknown setting \"", key, "\"; did you mean \"", NearestName(key, KeysOf(kSettings)), "\"?"));
}

}  // namespace taut::brain
