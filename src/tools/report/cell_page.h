// Simulations of a cell as a report: tables by tier, delays, and how full the cell was over time.
#pragma once

#include <string>
#include <vector>

#include "tools/report/document.h"
#include "tools/sim/cell_runs.h"

namespace taut::tools {

struct CellPage {
  std::string title, conditions;  // plain text
  std::vector<brain::CellResource> resources;
};

// The first run in full, all of them side by side. Reorders delays.
Document CellDocument(const CellPage& page, std::vector<CellRun>& runs);

}  // namespace taut::tools
