#include "brain/overcommit/settings.h"

#include <vector>

#include "common/base/nearest.h"
#include "common/base/strings.h"

namespace taut::brain {
namespace {

#define TAUT_NUMBER(field) +[](OvercommitSettings& s) -> double* { return &s.field; }, nullptr
constexpr OvercommitSetting kSettings[] = {
    {"borg-default.share", "share of the sum of limits", 0.01, 1, TAUT_NUMBER(borg.share)},
    {"n-sigma.n", "standard deviations above the mean", 0, 100, TAUT_NUMBER(n_sigma.n)},
    {"n-sigma.window_h", "hours of history", 0.5, 2400, TAUT_NUMBER(n_sigma.window_h)},
    {"n-sigma.min_samples", "windows until a task counts with less than its limit", 2, 1e5,
     TAUT_NUMBER(n_sigma.min_samples)},
    {"rc-like.percentile", "percentile of each task's usage over its limit", 0, 100,
     TAUT_NUMBER(rc_like.percentile)},
    {"rc-like.window_h", "hours of history", 0.5, 2400, TAUT_NUMBER(rc_like.window_h)},
    {"rc-like.min_samples", "windows until a task counts with less than its limit", 1, 1e5,
     TAUT_NUMBER(rc_like.min_samples)},
    {"machine-percentile.percentile", "percentile of the machine's usage over its limits", 0, 100,
     TAUT_NUMBER(machine_percentile.percentile)},
    {"machine-percentile.window_h", "hours of history", 0.5, 2400, TAUT_NUMBER(machine_percentile.window_h)},
    {"machine-percentile.min_samples", "windows until a task counts with less than its limit", 1, 1e5,
     TAUT_NUMBER(machine_percentile.min_samples)},
    {"reservation.margin", "share of the usage that is added to it", 0, 10, TAUT_NUMBER(reservation.margin)},
    {"reservation.half_life_h", "hours in which half of what is above usage and margin goes", 0.01, 1000,
     TAUT_NUMBER(reservation.half_life_h)},
    {"machine-max.days", "days whose highest usage of the machine counts", 0.05, 100,
     TAUT_NUMBER(machine_max.days)},
    {"machine-max.factor", "the highest usage is multiplied by this", 0.1, 10,
     TAUT_NUMBER(machine_max.factor)},
    {"machine-max.share", "share added of what the tasks' own maxima exceed the machine's by", 0, 1,
     TAUT_NUMBER(machine_max.share)},
    {"machine-max.min_samples", "windows until a task counts with less than its limit", 1, 1e5,
     TAUT_NUMBER(machine_max.min_samples)},
    {"max.of", "predictors whose highest counts, joined by +", 0, 0, nullptr,
     +[](OvercommitSettings& s) -> std::string* { return &s.max.of; }},
    {"pool.over", "ordered share of machine-days whose peak passes the prediction", 0.001, 0.5,
     TAUT_NUMBER(pool.over)},
    {"pool.gain", "how fast the share in use moves with the share delivered", 0, 10, TAUT_NUMBER(pool.gain)},
    {"pool.prior_days", "the share in use is times d / (d + this) after d days of comparisons", 0, 1000,
     TAUT_NUMBER(pool.prior_days)},
    {"pool.history_days", "days of a machine's usage before it is forecast", 0.1, 100,
     TAUT_NUMBER(pool.history_days)},
    {"pool.every_h", "hours between two forecasts that are compared with what came", 0.25, 24,
     TAUT_NUMBER(pool.every_h)},
    {"pool.min_days", "machine-days of completed forecasts before they are used", 1, 1e6,
     TAUT_NUMBER(pool.min_days)},
    {"pool.min_samples", "windows until a task counts with less than its limit", 1, 1e5,
     TAUT_NUMBER(pool.min_samples)},
};
#undef TAUT_NUMBER

}  // namespace

std::span<const OvercommitSetting> OvercommitSettingsTable() { return kSettings; }

absl::Status SetOvercommitSetting(std::string_view key, std::string_view value,
                                  OvercommitSettings& settings) {
  std::vector<std::string_view> keys;
  for (const OvercommitSetting& s : kSettings) {
    keys.push_back(s.key);
    if (s.key != key) continue;
    if (s.text != nullptr) {
      *s.text(settings) = std::string(StripSpace(value));
      return absl::OkStatus();
    }
    const std::optional<double> number = ParseDouble(StripSpace(value));
    if (!number.has_value() || !(*number >= s.min && *number <= s.max)) {
      return absl::InvalidArgumentError(
          StrCat("invalid ", key, " \"", value, "\": expected a number from ", s.min, " to ", s.max));
    }
    *s.number(settings) = *number;
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      StrCat("unknown setting \"", key, "\"; did you mean \"", NearestName(key, keys), "\"?"));
}

std::string GetOvercommitSetting(const OvercommitSetting& setting, const OvercommitSettings& settings) {
  OvercommitSettings copy = settings;
  return setting.text != nullptr ? *setting.text(copy) : StrCat(*setting.number(copy));
}

}  // namespace taut::brain
