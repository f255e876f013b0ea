// Formats the result of a cell's simulation as tables and as JSON.
#pragma once

#include <string>
#include <vector>

#include "brain/cell/cell_model.h"
#include "tools/cli/json_text.h"
#include "tools/sim/cell_runs.h"

namespace taut::tools {

// Returns the cell's utilization, tables by tier for the first run, the tasks pending at the end, and a comparison
// if there are several runs. Lines have at most 100 columns. Reorders the delays in `runs`.
std::string SimulateText(const brain::CellModel& cell, std::vector<CellRun>& runs);
// Returns the value of "runs", which docs/reference/traces.md describes. Reorders the delays in `runs`.
Json SimulateJson(const brain::CellModel& cell, std::vector<CellRun>& runs);

}  // namespace taut::tools
