// A replay of peak predictors as a report: each predictor's footprint, and its share of predictions below the
// peak.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/report/document.h"
#include "tools/sim/overcommit_replay.h"

namespace taut::tools {

struct OvercommitPage {
  std::string title;       // names the replayed input
  std::string conditions;  // conditions of the replay, one per line, such as its period and missing data
  // One line per result: numbers of replayed and of omitted tasks and machines.
  std::vector<std::string> read{};
};

// Returns a document that includes the 20 machines with most predictions below the oracle. Figures of a predictor
// without predictions are unknown. The severity of a predictor that was never below the oracle is also unknown.
Document OvercommitDocument(const OvercommitPage& page, std::span<const OvercommitResult> results);

}  // namespace taut::tools
