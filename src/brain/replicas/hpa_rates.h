// Text format of the rate limits of one direction in a HorizontalPodAutoscaler's `behavior`, on one line:
//
//   max of 100% per 15s; 4 pods per 15s
//
// `max of` (the default) or `min of` is the selectPolicy; `disabled` forbids scaling in this direction.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "brain/replicas/settings.h"

namespace taut::brain {

// Sets `select` and `rates` of `direction`. InvalidArgument contains the rate and the allowed format.
absl::Status ParseHpaRates(std::string_view text, HpaDirection& direction);
// Returns text that ParseHpaRates parses to equal limits.
std::string HpaRatesText(const HpaDirection& direction);

}  // namespace taut::brain
