// A replay of peak predictors as a report: the footprint of each predictor, and the share of its predictions
// below the peak.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/report/document.h"
#include "tools/sim/overcommit_replay.h"

namespace taut::tools {

struct OvercommitPage {
  std::string title;       // name of the replayed input
  std::string conditions;  // lines: times, missing parts, ...
  // Lines by result: numbers of the replayed tasks and machines, and of the tasks and machines that were left out.
  std::vector<std::string> read{};
};

// Returns the document, with the 20 machines that have most predictions below the oracle. For a predictor
// without predictions the figures are unknown. For a predictor that was never below the oracle the severity
// is unknown.
Document OvercommitDocument(const OvercommitPage& page, std::span<const OvercommitResult> results);

}  // namespace taut::tools
