// The table of peak predictors, each found by its name.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "brain/overcommit/peak_predictor.h"
#include "brain/overcommit/settings.h"
#include "brain/overcommit/summed_peaks.h"

namespace taut::brain {

struct PeakPredictorInfo {
  std::string_view name;
  std::string_view what;  // human-readable description of one line
  // Creates the predictor. Returns InvalidArgument if a setting contains an unknown predictor.
  absl::StatusOr<std::unique_ptr<PeakPredictor>> (*make)(const OvercommitSettings& settings);
  // True if a machine's prediction is the sum of predictions for its tasks. The prediction for a task is then
  // the task's reservation.
  bool sums_tasks = false;
  // Creates the predictor for machines that are composed of recorded tasks; null if `sums_tasks`.
  absl::StatusOr<std::unique_ptr<SummedPeak>> (*summed)(const OvercommitSettings& settings) = nullptr;
};
// Returns all predictors in the order of their display.
std::span<const PeakPredictorInfo> PeakPredictors();
// Returns the row with this name. InvalidArgument lists the choices.
absl::StatusOr<const PeakPredictorInfo*> FindPeakPredictor(std::string_view name);

// Creates a predictor from "name" or "name:key=value:key=value", such as "n-sigma:n=10:window=7d". The keys are
// the predictor's settings without the predictor's name. Returns InvalidArgument for an unknown name, key or
// value. Accepts former keys and adds a notice to `notices`.
absl::StatusOr<std::unique_ptr<PeakPredictor>> NewPeakPredictor(std::string_view spec,
                                                                OvercommitSettings settings,
                                                                SettingNotices* notices = nullptr);

}  // namespace taut::brain
