// All parameters of the peak predictors, with default and source. docs/algorithms/overcommit.md has the
// formulas.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "brain/overcommit/reservation.h"
#include "common/settings/setting_row.h"

namespace taut::brain {

// Borg's default: the prediction is a share of the sum of limits.
struct BorgSettings {
  double share = 0.9;
};

// The N-sigma predictor (Bashir et al., EuroSys 2021; docs/references.md).
struct NSigmaSettings {
  double n = 5;
  double window_h = 10;
  double min_samples = 24;  // number of windows; a task with fewer windows is counted at its limit
};
struct RcLikeSettings {
  double percentile = 99;
  double window_h = 7 * 24;
  double min_samples = 24;
};

// A percentile of the machine's own usage, whereas rc-like sums percentiles of the machine's tasks.
struct MachinePercentileSettings {
  double percentile = 99;
  double window_h = 7 * 24;
  double min_samples = 24;
};

struct MachineMaxSettings {
  double days = 7;
  double factor = 1;
  double share = 0;  // share of (sum of the tasks' own maxima - the machine's maximum)
  double min_samples = 24;
  // Above 0, the machine's maximum counts only the next hours on earlier days, and the last 6 hours.
  double hours = 0;
};

struct MaxSettings {
  std::string of = "n-sigma+rc-like";
};

// Parameters of the pool (docs/algorithms/overcommit.md, "The pool").
struct PoolSettings {
  double over = 0.03;       // the target share of machine-days whose peak exceeds the prediction
  double gain = 0.2;        // speed at which the share in use follows the delivered share
  double prior_days = 4;    // d days of comparisons multiply the share in use by d / (d + prior_days)
  double every_h = 2;       // hours between two forecasts that are compared with peaks
  double history_days = 7;  // days of history that a machine's first forecast requires
  double min_days = 20;     // machine-days of compared forecasts that predictions require
  double min_samples = 24;  // number of windows; a task with fewer windows is counted at its limit
};

struct OvercommitSettings {
  double horizon_h = 24;
  BorgSettings borg;
  NSigmaSettings n_sigma;
  RcLikeSettings rc_like;
  MachinePercentileSettings machine_percentile;
  ReservationSettings reservation;
  MachineMaxSettings machine_max;
  MaxSettings max;
  PoolSettings pool;
};

using OvercommitSetting = SettingRow<OvercommitSettings>;
std::span<const OvercommitSetting> OvercommitSettingsTable();
// Sets one value from text. InvalidArgument contains the key with the allowed values, or the nearest key. A former
// key is accepted, and adds a notice to `notices`.
absl::Status SetOvercommitSetting(std::string_view key, std::string_view value, OvercommitSettings& settings,
                                  SettingNotices* notices = nullptr);

}  // namespace taut::brain
