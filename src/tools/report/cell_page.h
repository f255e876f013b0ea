// Simulations of a cell as a report: tables by tier, delays, and utilization over time.
#pragma once

#include <string>
#include <vector>

#include "tools/report/document.h"
#include "tools/sim/cell_runs.h"

namespace taut::tools {

struct CellPage {
  std::string title, conditions;  // texts without markup
  std::vector<brain::CellResource> resources;
};

// Returns a document with the details of the first run and a comparison of all runs. Reorders the delays in
// `runs`.
Document CellDocument(const CellPage& page, std::vector<CellRun>& runs);

}  // namespace taut::tools
