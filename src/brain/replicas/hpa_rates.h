// The rate limits of one direction of a HorizontalPodAutoscaler's `behavior` as one line:
//
//   max of 100% per 15s; 4 pods per 15s
//
// `max of` or `min of` is its selectPolicy, max where it is missing; `disabled`: no scaling in this direction.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "brain/replicas/settings.h"

namespace taut::brain {

// Sets select and rates. InvalidArgument names the rate and what is allowed.
absl::Status ParseHpaRates(std::string_view text, HpaDirection& direction);
// What ParseHpaRates reads back to the same.
std::string HpaRatesText(const HpaDirection& direction);

}  // namespace taut::brain
