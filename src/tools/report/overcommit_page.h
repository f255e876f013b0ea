// A replay of peak predictors as one HTML file: how much of the limits each predicts, and how often too little.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/sim/overcommit_replay.h"

namespace taut::tools {

struct OvercommitPage {
  std::string title;                // what was replayed
  std::string conditions;           // lines: the times, what is partial, ...
  std::vector<std::string> read{};  // lines by result: its tasks and machines, and what was left out
};

// Without scripts, and without anything from elsewhere. Of the machines, the 20 with most predictions below the
// oracle. A predictor without predictions, and the severity of one that was never below, are "-".
std::string Render(const OvercommitPage& page, std::span<const OvercommitResult> results);

}  // namespace taut::tools
