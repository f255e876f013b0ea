// A replay of peak predictors as a report: footprint of each, and share of predictions below the peak.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/report/document.h"
#include "tools/sim/overcommit_replay.h"

namespace taut::tools {

struct OvercommitPage {
  std::string title;                // name of the replayed input
  std::string conditions;           // lines: times, missing parts, ...
  std::vector<std::string> read{};  // lines by result: its tasks and machines, and those left out
};

// Returns the document, with the 20 machines that have most predictions below the oracle. Figures of a
// predictor without predictions are not known, nor is the severity of one that was never below.
Document OvercommitDocument(const OvercommitPage& page, std::span<const OvercommitResult> results);

}  // namespace taut::tools
