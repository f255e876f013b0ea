// A replay of peak predictors as a report: how much of the limits each predicts, and how often too little.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/report/document.h"
#include "tools/sim/overcommit_replay.h"

namespace taut::tools {

struct OvercommitPage {
  std::string title;                // what was replayed
  std::string conditions;           // lines: the times, what is partial, ...
  std::vector<std::string> read{};  // lines by result: its tasks and machines, and what was left out
};

// Of the machines, the 20 with most predictions below the oracle. Figures of a predictor without predictions, and
// the severity of one that was never below, are not known.
Document OvercommitDocument(const OvercommitPage& page, std::span<const OvercommitResult> results);

}  // namespace taut::tools
