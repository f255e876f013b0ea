// Settings of the control of throttling by the agent between two decisions.
#pragma once

#include <optional>

namespace taut {

struct ThrottleControlSettings {
  std::optional<double> target;  // share of throttled periods; absent: off
  double low = 0.7, high = 2;    // range of the limit, as multiples of the recommended limit
};

}  // namespace taut
