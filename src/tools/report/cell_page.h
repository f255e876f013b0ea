// Simulations of a cell as one HTML file: tables by tier, delays, and how full the cell was over time.
#pragma once

#include <string>
#include <vector>

#include "tools/sim/cell_runs.h"

namespace taut::tools {

struct CellPage {
  std::string title, conditions;  // plain text
  std::vector<brain::CellResource> resources;
};

// Without scripts, and without anything from elsewhere. The first run in full, all of them side by side. Reorders
// delays.
std::string Render(const CellPage& page, std::vector<CellRun>& runs);

}  // namespace taut::tools
