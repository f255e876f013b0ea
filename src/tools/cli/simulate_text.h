// What a simulation of a cell found, as tables and as JSON.
#pragma once

#include <string>
#include <vector>

#include "brain/cell/cell_model.h"
#include "tools/cli/json_text.h"
#include "tools/sim/cell_runs.h"

namespace taut::tools {

// How full the cell was, tables by tier of the first run, what waits at the end, and one table of all runs if
// there are several. Lines fit 100 columns. Reorders delays.
std::string SimulateText(const brain::CellModel& cell, std::vector<CellRun>& runs);
// "runs": docs/reference/traces.md describes it. Reorders delays.
Json SimulateJson(const brain::CellModel& cell, std::vector<CellRun>& runs);

}  // namespace taut::tools
