// The peak predictors there are, by name. One plain table; nothing registers itself.
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
  std::string_view what;  // one line for people
  // InvalidArgument if a setting names a predictor that does not exist.
  absl::StatusOr<std::unique_ptr<PeakPredictor>> (*make)(const OvercommitSettings& settings);
  // A machine's prediction is the sum of those for each of its tasks alone: each is a reservation of its task.
  bool sums_tasks = false;
  // Of others: the same for machines that are put together. Null if it sums up tasks.
  absl::StatusOr<std::unique_ptr<SummedPeak>> (*summed)(const OvercommitSettings& settings) = nullptr;
};
// All of them, in the order they are shown.
std::span<const PeakPredictorInfo> PeakPredictors();
// InvalidArgument naming the choices.
absl::StatusOr<const PeakPredictorInfo*> FindPeakPredictor(std::string_view name);

// "name" or "name:key=value:key=value", where a key is a setting of that predictor without its name:
// "n-sigma:n=10:window=7d". InvalidArgument names what is wrong. Old keys are read with a notice.
absl::StatusOr<std::unique_ptr<PeakPredictor>> NewPeakPredictor(std::string_view spec,
                                                                OvercommitSettings settings,
                                                                SettingNotices* notices = nullptr);

}  // namespace taut::brain
